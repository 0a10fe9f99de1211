import { afterEach, expect, it } from 'vitest';
import type { Submission } from '../../../src/service/carriers/carrier.js';
import { openCarrierDatabase, simulatedCarrier } from '../../../src/service/carriers/simulated/simulated.js';
import { ManualClock } from '../../../src/service/clock.js';
import type { Database, Statement } from '../../../src/service/storage/sqlite/database/open.js';

let close: () => Promise<void>;
afterEach(() => close());

/** A carrier whose file cannot be written as long as `isBroken` says so. */
async function carrierOn(isBroken: () => boolean) {
  const database = await openCarrierDatabase(':memory:');
  const begin = database.prepare('BEGIN IMMEDIATE');
  const broken = {
    run() {
      if (isBroken()) throw new Error('disk I/O error');
      return begin.run();
    },
  } as Statement;
  const carrier = simulatedCarrier(
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
  close = () => carrier.close();
  return carrier;
}

const submission = (reference: string): Submission => ({
  reference,
  attempt: 1,
  channel: 'sms',
  route: 'Mobicom',
  to: '99112233',
  text: 'Hi',
  subject: null,
  html: null,
  from: null,
  replyTo: null,
});

it('takes messages again after its file could not be written', async () => {
  let broken = true;
  const carrier = await carrierOn(() => broken);
  const lost = [carrier.submit(submission('a')), carrier.submit(submission('b'))];
  for (const one of await Promise.allSettled(lost)) expect(one.status).toBe('rejected');
  broken = false;
  expect(await carrier.submit(submission('c'))).toEqual({ kind: 'accepted' });
  const delivered: string[] = [];
  for await (const { messageId } of carrier.outbox({})) delivered.push(messageId);
  expect(delivered).toEqual(['c']);
});
