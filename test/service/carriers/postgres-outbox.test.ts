import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { everyAttempt } from '../../../src/service/carriers/carrier.js';
import type { Outbox } from '../../../src/service/carriers/simulated/outbox.js';
import { outboxMigrations, postgresOutbox } from '../../../src/service/carriers/simulated/postgres-outbox.js';
import { systemClock } from '../../../src/service/clock.js';
import type { Database } from '../../../src/service/storage/postgres/database/database.js';
import { openPostgresStorage } from '../../../src/service/storage/postgres/postgres-storage.js';
import { emptyDatabase, newDatabase } from '../../support/postgres.js';
import { submissionOf as submission } from '../../support/smpp.js';

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

async function delivered(outbox: Outbox, filter = {}): Promise<string[]> {
  const ids: string[] = [];
  for await (const { messageId } of outbox.read(filter)) ids.push(messageId);
  return ids;
}

describe('the outbox on PostgreSQL', () => {
  it.each([
    [{}, 900, '0'],
    [{ limit: 700 }, 700, '200'],
    [{ limit: 5_000 }, 900, '0'],
    [{ limit: 0 }, 0, undefined],
    [{ to: '99112233', limit: 2 }, 2, '898'],
    [{ to: '88112233', limit: 2 }, 0, undefined],
    [{ after: '798' }, 101, '799'],
    [{ after: '899' }, 0, undefined],
    [{ after: 'nothing' }, 0, undefined],
    [{ isNewestFirst: true }, 900, '899'],
  ])('with %o shows those in their order', async (filter, count, first) => {
    const [outbox] = (await outboxes(1)) as [Outbox];
    await Promise.all(Array.from({ length: 900 }, (_, index) => outbox.deliver(submission(`${index}`))));
    const found = await delivered(outbox, filter);
    expect(found).toHaveLength(count);
    expect(found[0]).toBe(first);
    const sorted = found.map(Number).sort((a, b) => a - b);
    expect(found.map(Number)).toEqual('isNewestFirst' in filter ? sorted.reverse() : sorted);
  });

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

  it('holds back attempts below a fence, after a reset those of fences for every attempt', async () => {
    const [outbox] = (await outboxes(1)) as [Outbox];
    await outbox.ageOrFence('a', 2);
    await outbox.ageOrFence('b', everyAttempt);
    expect(await outbox.deliver(submission('a'))).toBe(false);
    expect(await outbox.deliver(submission('a', { attempt: 2 }))).toBe(true);
    expect(await outbox.ageOrFence('a', 3)).toBeGreaterThanOrEqual(0);
    await outbox.reset();
    expect(await outbox.deliver(submission('a'))).toBe(true);
    expect(await outbox.deliver(submission('b', { attempt: 9 }))).toBe(false);
  });

  it('counts repeats, and knows a name once', async () => {
    const [one, two] = (await outboxes(2)) as [Outbox, Outbox];
    expect(await one.repeats()).toBe(0);
    await one.deliver(submission('a'));
    await two.deliver(submission('a', { attempt: 2 }));
    expect(await one.repeats()).toBe(1);
    expect([await one.isFirst('n'), await two.isFirst('n')]).toEqual([true, false]);
  });
});
