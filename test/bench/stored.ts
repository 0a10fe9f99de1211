import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultProject } from '../../src/service/admin/projects.js';
import { type Core, openCore } from '../../src/service/core.js';
import { median, type Row } from './pairs.js';

const few = 10_000;
const many = Number(process.env.STORED ?? 10_000_000);
const batchSize = 1_000;
const caller = { projectId: defaultProject.id, keyId: 'bench' };
const text = 'Hello';
let recipient = 0;

/** Different ones, in no order, below the numbers that are answered with faults. */
const next = () => `${88_000_000 + ((recipient++ * 7_919_993) % 10_900_000)}`;

async function fill(core: Core, count: number): Promise<void> {
  for (let stored = 0; stored < count; stored += batchSize) {
    const to = Array.from({ length: batchSize }, next);
    await core.operations.sendSmsBulk({ caller, params: { to, text }, idempotencyKey: randomUUID() });
    await core.administration.idle();
  }
}

/** Milliseconds of one operation, one after the other. */
async function latency(operation: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < 400; count += 1) {
    const began = performance.now();
    await operation();
    times.push(performance.now() - began);
  }
  return median(times);
}

/** What single requests take with few and with many messages stored. */
export async function stored(): Promise<Row[]> {
  const directory = mkdtempSync(join(tmpdir(), 'urtuu-bench-stored-'));
  const core = await openCore({ directory, rates: 'off' });
  await core.administration.credit(2 * (few + many) * 10);
  const ids: string[] = [];
  const send = async () => {
    const idempotencyKey = randomUUID();
    const { body } = await core.operations.sendSms({ caller, params: { to: next(), text }, idempotencyKey });
    ids.push((body as { id: string }).id);
  };
  const lookUp = () => core.operations.getMessage(caller, ids[(ids.length * Math.random()) | 0] ?? '');
  const operations = { 'POST /v1/sms': send, 'GET /v1/messages/{id}': lookUp };
  const measure = async () => Object.fromEntries(await measures());
  const measures = async () => {
    const found: [string, number][] = [];
    for (const [name, operation] of Object.entries(operations)) found.push([name, await latency(operation)]);
    return found;
  };
  await fill(core, few);
  const before = await measure();
  await fill(core, many - few);
  const after = await measure();
  await core.close();
  rmSync(directory, { recursive: true });
  return Object.keys(operations).map((name) => {
    const [a = Number.NaN, b = Number.NaN] = [after[name], before[name]];
    return {
      what: `SQLite: ${name} with ${many} stored messages, without HTTP`,
      against: `with ${few}`,
      goal: 'flat: 1.25',
      measured: `${(a / b).toFixed(2)} (${a.toFixed(2)} ms to ${b.toFixed(2)} ms)`,
      met: a / b <= 1.25,
    };
  });
}
