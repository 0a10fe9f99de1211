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

const [kind = '', bundle = ''] = process.argv.slice(2);
const text = 'Сайн байна уу, таны захиалга ирлээ.';
const caller = { projectId: '00000000-0000-7000-8000-000000000001', keyId: 'bench' };
const connections = 16;
const sendsASlice = 8_000;
const batchesASlice = 20;
const callsASlice = 5_000;

/** In a store of its own each time, as the benchmark has it. */
function coreWork(): Slice {
  const load = createRequire(__filename)(bundle) as { openCore: typeof openCore };
  return async () => {
    const directory = mkdtempSync(join(tmpdir(), 'urtuu-bench-'));
    const core = await load.openCore({ directory, rates: 'off' });
    await core.administration.credit(100_000_000);
    const cpu = await cpuOf(() => (kind === 'batch' ? batches(core) : singles(core)));
    await core.close();
    rmSync(directory, { recursive: true });
    return cpu;
  };
}

async function batches({ operations, administration }: Core): Promise<void> {
  for (let batch = 0; batch < batchesASlice; batch += 1) {
    const to = Array.from({ length: 1_000 }, (_, index) => `${88_000_000 + batch * 1_000 + index}`);
    await operations.sendSmsBulk({ caller, params: { to, text }, idempotencyKey: randomUUID() });
    await administration.idle();
  }
}

async function singles({ operations, administration }: Core): Promise<void> {
  let next = 0;
  const send = (index: number) => {
    if (kind === 'sms') {
      const params = { to: `${99_100_000 + index}`, text };
      return operations.sendSms({ caller, params, idempotencyKey: randomUUID() });
    }
    const params = { to: `a${index}@example.com`, subject: 'Hello', text };
    return operations.sendEmail({ caller, params, idempotencyKey: randomUUID() });
  };
  const sendAll = async () => {
    while (next < sendsASlice) await send(next++);
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
  process.disconnect();
}

void main();
