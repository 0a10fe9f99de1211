// A piece of one tree in a process of its own. Runs a slice for every message, and answers with its cpu in microseconds.
import { randomUUID } from 'node:crypto';
import { on } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Urtuu } from '../../../src/client/index.js';
import type { openCore } from '../../../src/service/core.js';

interface Work {
  slice(): Promise<void>;
  close(): Promise<void>;
}

const [kind = '', bundle = ''] = process.argv.slice(2);
const text = 'Сайн байна уу, таны захиалга ирлээ.';
const caller = { projectId: '00000000-0000-7000-8000-000000000001', keyId: 'bench' };
const connections = 16;
const [sendsASlice, batchesASlice, callsASlice] = [400, 3, 2_000];

async function coreWork(): Promise<Work> {
  const load = createRequire(__filename)(bundle) as { openCore: typeof openCore };
  const directory = mkdtempSync(join(tmpdir(), 'urtuu-bench-'));
  const { operations, administration, close } = await load.openCore({ directory, rates: 'off' });
  await administration.credit(1_000_000_000);
  let serial = 0;
  const sms = (to: string) =>
    operations.sendSms({ caller, params: { to, text }, idempotencyKey: randomUUID() });
  const email = (to: string) => {
    const params = { to: `a${to}@example.com`, subject: 'Hello', text };
    return operations.sendEmail({ caller, params, idempotencyKey: randomUUID() });
  };
  async function singles(): Promise<void> {
    const send = kind === 'email' ? email : sms;
    const end = serial + sendsASlice;
    const sendAll = async () => {
      while (serial < end) await send(`${99_100_000 + serial++}`);
    };
    await Promise.all(Array.from({ length: connections }, sendAll));
    await administration.settled();
  }
  async function batches(): Promise<void> {
    for (let batch = 0; batch < batchesASlice; batch += 1) {
      const to = Array.from({ length: 1_000 }, () => `${88_000_000 + serial++}`);
      await operations.sendSmsBulk({ caller, params: { to, text }, idempotencyKey: randomUUID() });
      await administration.settled();
    }
  }
  return {
    slice: kind === 'batch' ? batches : singles,
    async close() {
      await close();
      rmSync(directory, { recursive: true });
    },
  };
}

function clientWork(): Work {
  const client = createRequire(__filename)(bundle) as { Urtuu: typeof Urtuu };
  const answer = JSON.stringify({ id: randomUUID(), status: 'sent', balance: 990 });
  const fetch = async () => new Response(answer, { headers: { 'content-type': 'application/json' } });
  const urtuu = new client.Urtuu('urtuu_bench', { fetch });
  const call =
    kind === 'balance.get' ? () => urtuu.balance.get() : () => urtuu.sms.send({ to: '99112233', text });
  return {
    async slice() {
      for (let count = 0; count < callsASlice; count += 1) await call();
    },
    close: async () => {},
  };
}

async function main(): Promise<void> {
  const work = kind.includes('.') ? clientWork() : await coreWork();
  for await (const [message] of on(process, 'message')) {
    if (message === 'close') break;
    const start = process.cpuUsage();
    await work.slice();
    const { user, system } = process.cpuUsage(start);
    process.send?.(user + system);
  }
  await work.close();
  process.disconnect();
}

void main();
