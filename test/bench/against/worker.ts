// A piece of one tree in a process of its own. Runs a slice for every message, and answers with its cpu in microseconds.
import { randomUUID } from 'node:crypto';
import { on } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Urtuu } from '../../../src/client/index.js';
import type { Core, openCore } from '../../../src/service/core.js';
import { smsResult } from '../../support/resources.js';

/** Runs a slice and gives its cpu. */
type Slice = () => Promise<number>;

/** A database, or a configuration of carriers. */
const [kind = '', bundle = '', given] = process.argv.slice(2);
const configuration = given?.endsWith('.json') ? given : undefined;
const database = configuration === undefined ? given : undefined;
const text = 'Сайн байна уу, таны захиалга ирлээ.';
const caller = { projectId: '00000000-0000-7000-8000-000000000001', keyId: 'bench' };
const connections = 16;
/** PostgreSQL and carriers take longer for each. */
const sendsASlice = given === undefined ? 8_000 : 2_000;
const batchesASlice = given === undefined ? 20 : kind === 'batch' ? 4 : 1;
const callsASlice = 5_000;

/** In a store of its own each time, as the benchmark has it. */
function coreWork(): Slice {
  const load = createRequire(__filename)(bundle) as { openCore: typeof openCore };
  if (database !== undefined) return databaseWork(load.openCore, database);
  return async () => {
    const directory = mkdtempSync(join(tmpdir(), 'urtuu-bench-'));
    const carriers = configuration && { file: configuration, environment: { PASSWORD: 'secret' } };
    const core = await load.openCore({
      directory,
      rates: 'off',
      ...(carriers && { configuration: carriers }),
    });
    await core.administration.credit(100_000_000);
    const cpu = await cpuOf(() => (kind.endsWith('batch') ? batches(core) : singles(core)));
    await core.close();
    rmSync(directory, { recursive: true });
    return cpu;
  };
}

/** Always in the same database: making one takes longer than a slice. */
function databaseWork(open: typeof openCore, url: string): Slice {
  const opened = open({ database: url, secret: new Uint8Array(32).fill(7), rates: 'off' });
  return async () => {
    const core = await opened;
    await core.administration.credit(100_000_000);
    return cpuOf(() => (kind.endsWith('batch') ? batches(core) : singles(core)));
  };
}

/** To others in each slice: a recipient has a cap. */
let sent = 0;

async function batches({ operations, administration }: Core): Promise<void> {
  for (let batch = 0; batch < batchesASlice; batch += 1) {
    const idempotencyKey = randomUUID();
    const to = Array.from({ length: 1_000 }, () => 88_000_000 + sent++);
    if (kind === 'email batch')
      await operations.sendEmailBulk({
        ...{ caller, idempotencyKey },
        params: { to: to.map((each) => `a${each}@example.com`), subject: 'Hello', text },
      });
    else await operations.sendSmsBulk({ caller, idempotencyKey, params: { to: to.map(String), text } });
    await administration.idle();
  }
}

async function singles({ operations, administration }: Core): Promise<void> {
  const until = sent + sendsASlice;
  const send = (index: number) => {
    if (kind === 'sms') {
      const params = { to: `${99_100_000 + index}`, text };
      return operations.sendSms({ caller, params, idempotencyKey: randomUUID() });
    }
    const params = { to: `a${index}@example.com`, subject: 'Hello', text };
    return operations.sendEmail({ caller, params, idempotencyKey: randomUUID() });
  };
  const sendAll = async () => {
    while (sent < until) await send(sent++);
  };
  await Promise.all(Array.from({ length: connections }, sendAll));
  await administration.idle();
}

function clientWork(): Slice {
  const client = createRequire(__filename)(bundle) as { Urtuu: typeof Urtuu };
  const answer = JSON.stringify(smsResult());
  const fetch = async () => new Response(answer, { headers: { 'content-type': 'application/json' } });
  const urtuu = new client.Urtuu('urtuu_bench', { fetch });
  const call =
    kind === 'balance.get' ? () => urtuu.balance.get() : () => urtuu.sms.send({ to: '99112233', text });
  return () =>
    cpuOf(async () => {
      for (let count = 0; count < callsASlice; count += 1) await call();
    });
}

/** Microseconds, user and system. */
async function cpuOf(work: () => Promise<void>): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

async function main(): Promise<void> {
  const slice = kind.includes('.') ? clientWork() : coreWork();
  for await (const [message] of on(process, 'message')) {
    if (message === 'close') break;
    process.send?.(await slice());
  }
  // A database is left to end with its folder.
  process.exit();
}

void main();
