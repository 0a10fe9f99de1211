import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Outbox } from '../../../src/service/carriers/simulated/outbox.js';
import { outboxMigrations, postgresOutbox } from '../../../src/service/carriers/simulated/postgres-outbox.js';
import { systemClock } from '../../../src/service/clock.js';
import type { Database } from '../../../src/service/storage/postgres/database/database.js';
import { openPostgresStorage } from '../../../src/service/storage/postgres/postgres-storage.js';
import { emptyDatabase, newDatabase } from '../../support/postgres.js';
import { submissionOf as submission } from '../../support/smpp.js';
import { delivered, outboxConformance } from './conformance/outbox.js';

let url: string;
beforeAll(async () => {
  url = await newDatabase();
});

async function databases(instances: number): Promise<Database[]> {
  await emptyDatabase(url);
  const secret = new Uint8Array(32).fill(7);
  const opened = { url, secret, clock: systemClock, report() {}, migrations: [outboxMigrations] };
  const storages = await Promise.all(Array.from({ length: instances }, () => openPostgresStorage(opened)));
  onTestFinished(async () => {
    for (const storage of storages) await storage.close();
  });
  return storages.map(({ database }) => database);
}

/** Of one company, as `instances` reach it. */
async function outboxes(instances: number): Promise<Outbox[]> {
  return (await databases(instances)).map((database) => postgresOutbox(database, () => {}));
}

describe('the outbox on PostgreSQL', () => {
  outboxConformance(async () => (await outboxes(2)) as [Outbox, Outbox]);

  it('shows none before another that has an earlier number and is still being committed', async () => {
    const [one, two] = (await databases(2)) as [Database, Database];
    const outbox = postgresOutbox(two, () => {});
    const { from, replyTo, to, ...rest } = submission('slow');
    const slow = JSON.stringify([{ ...rest, recipient: to, sender: from, reply_to: replyTo }]);
    let isRead = false;
    const reading = await one.transact(async (send) => {
      await send('SELECT :s.deliver_1(NULL::bigint, $1::json)', [slow]);
      await outbox.deliver(submission('quick'));
      const read = delivered(outbox).finally(() => {
        isRead = true;
      });
      const waiting = () =>
        two.query("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'urtuu.fences'::regclass");
      while (!isRead && (await waiting()).length === 0);
      return [read];
    });
    expect(await reading[0]).toEqual(['slow', 'quick']);
  });

  it('either delivers an attempt or fences it, whoever asks at once', async () => {
    const [one, two] = (await outboxes(2)) as [Outbox, Outbox];
    const references = Array.from({ length: 60 }, (_, index) => `${index}`);
    const ends = await Promise.all(
      references.map(async (reference) => {
        const [isDelivered, age] = await Promise.all([
          one.deliver(submission(reference)),
          two.ageOrFence(reference, 2),
        ]);
        return [isDelivered, age === null];
      }),
    );
    for (const [isDelivered, isFenced] of ends) expect(isDelivered).toBe(!isFenced);
    expect(await delivered(two)).toHaveLength(ends.filter(([isDelivered]) => isDelivered).length);
  });
});
