import { connect } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { type Core, openCore } from '../../../src/service/core.js';
import { createApp } from '../../../src/service/http/app.js';
import { inProcess } from '../../../src/service/http/in-process.js';
import { listen } from '../../../src/service/http/listen.js';
import type { Operations } from '../../../src/service/operations/operations.js';
import { messageResource } from '../../../src/service/operations/resources.js';
import { loadEngine } from '../../../src/service/storage/sqlite/database/engine.js';
import type { MessageRecord } from '../../../src/service/storage/store.js';
import { arbitraryRequests } from '../../support/arbitrary-requests.js';
import { Machine } from '../../support/binary.js';
import { recipients } from '../people.js';

/** `stores_first` writes before it has checked; `trusts_ids` does not expect an id that is not there. */
export type FuzzBreak = 'nothing' | 'stores_first' | 'trusts_ids';

export interface FuzzResult {
  requests: number;
  /** Requests that turned out to be valid, besides those that were meant to be. */
  accepted: number;
  /** Answers of 500 and above. */
  crashed: number;
  /** Refused requests after which something was stored that was not there before. */
  stored: number;
  /** Valid sends in between that were not done, or not once. */
  failed: number;
}

const breaks: Record<FuzzBreak, (core: Core) => Partial<Operations>> = {
  nothing: () => ({}),
  stores_first: ({ operations, store }) => ({
    async sendSms(call) {
      await store.credit(call.caller.projectId, -1);
      return operations.sendSms(call);
    },
  }),
  trusts_ids: ({ store }) => ({
    getMessage: async ({ projectId }, id) =>
      messageResource((await store.getMessage(projectId, id)) as MessageRecord),
  }),
};

const everyNth = 20;

/** Arbitrary requests, half in process and half over a socket, with valid sends in between. */
export async function playFuzz(options: {
  seed: number;
  requests: number;
  service: FuzzBreak;
}): Promise<FuzzResult> {
  const machine = new Machine();
  const directory = join(machine.home, 'service');
  const core = await openCore({ directory, rates: 'off' });
  const app = createApp({ ...core.operations, ...breaks[options.service](core) });
  const listening = await listen(app.answer, { port: 0 });
  const storage = await watch(directory);
  try {
    const { key, ids } = await furnish(core);
    const port = Number(new URL(listening.url).port);
    const result: FuzzResult = { requests: 0, accepted: 0, crashed: 0, stored: 0, failed: 0 };
    const { request, bytes } = arbitraryRequests({ key, ids });
    const half = { seed: options.seed, numRuns: Math.ceil(options.requests / 2) };
    const tries = [
      ...fc.sample(request, half).map((one) => async () => {
        const { method, target, headers } = one;
        const init: RequestInit = { method, headers };
        if (method !== 'GET' && method !== 'HEAD') init.body = target.body;
        const { status } = await inProcess(app).fetch(new Request(`http://a${target.path}`, init));
        return { statuses: [status], mayStore: method === 'POST' };
      }),
      ...fc.sample(bytes, half).map((one) => async () => ({
        statuses: await exchange(port, one),
        mayStore: one.includes('POST'),
      })),
    ];
    const numbers = recipients(0, tries.length);
    let before = storage.state();
    for (const [index, attempt] of tries.entries()) {
      const { statuses, mayStore } = await attempt();
      result.requests += 1;
      if (statuses.some((status) => status >= 500)) result.crashed += 1;
      if (mayStore && statuses.some((status) => status < 300)) {
        result.accepted += 1;
        await core.administration.idle();
      } else if (storage.state() !== before) result.stored += 1;
      if (index % everyNth === 0) {
        const to = numbers[index] ?? '';
        const body = Buffer.from(JSON.stringify({ to, text: 'Hello' }));
        const head = `POST /v1/sms HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
        const send = Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body]);
        if ((await exchange(port, send))[0] !== 200 || (await deliveriesTo(core, to)) !== 1)
          result.failed += 1;
      }
      before = storage.state();
    }
    return result;
  } finally {
    storage.close();
    await listening.close();
    await core.close();
    machine.remove();
  }
}

/** Something to find: a batch and a verification. */
async function furnish({ administration, operations }: Core) {
  const { secret } = await administration.createKey();
  await administration.credit(100_000_000);
  await administration.settings.update({ caps: { per_10_minutes: 20, per_24_hours: 80 } });
  const caller = (await operations.admit({ secret, kind: 'reading', idempotencyKey: null }))?.caller;
  if (caller === undefined) throw new Error('the key is not known');
  const params = { to: ['88000001', '88000002'], text: 'Hello' };
  const { body } = await operations.sendSmsBulk({ caller, params, idempotencyKey: null });
  const { id } = await operations.createVerification(caller, { to: '88000003' });
  await administration.idle();
  return { key: secret, ids: { batch: (body as { id: string }).id, verification: id } };
}

async function deliveriesTo({ administration }: Core, to: string): Promise<number> {
  let count = 0;
  for await (const _ of administration.outbox({ to })) count += 1;
  return count;
}

/** Sends bytes on a connection of their own; the statuses that came back. */
function exchange(port: number, bytes: Buffer): Promise<number[]> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.end(bytes));
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
    });
    socket.on('error', () => {});
    socket.on('close', () =>
      resolve([...received.matchAll(/^HTTP\/1\.1 ([2-5]\d\d)/gm)].map((match) => Number(match[1]))),
    );
  });
}

/** Everything in the folder that requests can add to, as one text. */
async function watch(directory: string): Promise<{ state(): string; close(): void }> {
  const { DatabaseSync } = await loadEngine();
  const counts = (tables: readonly string[]) =>
    tables.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`).join(', ');
  const service = new DatabaseSync(join(directory, 'service.db'), { readOnly: true });
  const operator = new DatabaseSync(join(directory, 'operator.db'), { readOnly: true });
  const stored = service.prepare(
    `SELECT ${counts(['ledger', 'contents', 'batches', 'messages', 'idempotency', 'verifications', 'keys', 'projects'])},
       (SELECT sum(balance) FROM projects) AS credits, (SELECT sum(amount) FROM ledger) AS moved`,
  );
  const submitted = operator.prepare(`SELECT ${counts(['deliveries', 'losses', 'barred'])}`);
  return {
    state: () => JSON.stringify([stored.get(), submitted.get()]),
    close() {
      service.close();
      operator.close();
    },
  };
}
