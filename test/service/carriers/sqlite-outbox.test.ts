import { afterEach, expect, it } from 'vitest';
import { openOutboxDatabase, sqliteOutbox } from '../../../src/service/carriers/simulated/sqlite-outbox.js';
import { ManualClock } from '../../../src/service/clock.js';
import { largeTurn } from '../../../src/service/event-loop.js';
import type { Database, Statement } from '../../../src/service/storage/sqlite/database/database.js';
import { submissionOf as submission } from '../../support/smpp.js';

let close: () => Promise<void>;
afterEach(() => close());

/** An outbox whose file cannot be written as long as `isBroken` says so. */
async function outboxOn(isBroken: () => boolean) {
  const database = await openOutboxDatabase(':memory:');
  const begin = database.prepare('BEGIN IMMEDIATE');
  const broken = {
    run() {
      if (isBroken()) throw new Error('disk I/O error');
      return begin.run();
    },
  } as Statement;
  const outbox = sqliteOutbox(
    new Proxy(database, {
      get(target, name) {
        if (name === 'prepare')
          return (sql: string) => (sql === 'BEGIN IMMEDIATE' ? broken : target.prepare(sql));
        const value = target[name as keyof Database] as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    }),
    new ManualClock(),
  );
  close = () => outbox.close();
  return outbox;
}

it('takes messages again after its file could not be written', async () => {
  let broken = true;
  const outbox = await outboxOn(() => broken);
  const lost = [outbox.deliver(submission('a')), outbox.deliver(submission('b'))];
  for (const one of await Promise.allSettled(lost)) expect(one.status).toBe('rejected');
  broken = false;
  expect(await outbox.deliver(submission('c'))).toBe(true);
  const delivered: string[] = [];
  for await (const { messageId } of outbox.read({})) delivered.push(messageId);
  expect(delivered).toEqual(['c']);
});

it('takes a single message while a batch waits for its turn', async () => {
  const outbox = await outboxOn(() => false);
  void largeTurn();
  const order: string[] = [];
  const batch = Array.from({ length: 1_000 }, (_, index) => outbox.deliver(submission(`${index}`)));
  const all = Promise.all(batch).then(() => order.push('batch'));
  await new Promise(setImmediate);
  await outbox.deliver(submission('single')).then(() => order.push('single'));
  await all;
  expect(order).toEqual(['single', 'batch']);
});
