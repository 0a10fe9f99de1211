import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import { createPolledChanges } from '../../../src/service/storage/shared/polled-changes.js';
import { createMessages } from '../../../src/service/storage/sql/messages.js';
import { GroupCommit } from '../../../src/service/storage/sqlite/database/group-commit.js';
import { sqliteSql } from '../../../src/service/storage/sqlite/database/sql.js';
import { openStoreDatabase, sqliteStore } from '../../../src/service/storage/sqlite/sqlite-store.js';
import type { MessageQuery } from '../../../src/service/storage/store.js';
import { batch, failed, leaseMs, message, other, project, start } from './conformance/fixture.js';

const scanned = 3;
const clock = new ManualClock(start);
const database = await openStoreDatabase(':memory:');
const store = sqliteStore(database, clock, createPolledChanges(clock), (to) => `erased:${to}`);
const lists = createMessages(
  sqliteSql(database, clock, new GroupCommit(database), async (work) => work()),
  scanned,
);

/** Two projects in turn, some messages refunded, the clock set back once. */
async function fill(): Promise<void> {
  for (const each of [project, other]) await store.createProject({ ...each, balance: 10_000 });
  const claim = { token: 't', leaseMs, limit: 3, lane: 'sms', class: 'single', onlyOverdue: false } as const;
  for (let index = 0; index < 12; index += 1) {
    clock.advance(index === 6 ? -200 : 100);
    const to = String(index % 4);
    await store.acceptMessage(message({ to, projectId: other.id }));
    await store.acceptMessage(message({ to, channel: index % 5 === 0 ? 'email' : 'sms' }));
    if (index === 7) {
      const claimed = await store.claimMessages(claim);
      await store.finalizeMessages(
        claimed.map((one) => ({ claimed: one, outcome: failed })),
        () => ({ status: 502, body: '{}' }),
      );
    }
  }
  await store.acceptBatch(batch(['1', '7', '8', '9']));
}
await fill();

const everything: MessageQuery = {
  to: null,
  channel: null,
  status: null,
  delivery: null,
  batchId: null,
  since: null,
  until: null,
};
const records = (await store.listMessages(project.id, everything, { limit: 1_000, after: null }))?.records;
const time = fc.option(fc.integer({ min: start, max: start + 1_500 }));
const filters: fc.Arbitrary<MessageQuery> = fc.record({
  to: fc.option(fc.constantFrom('0', '1', '9', 'nobody')),
  channel: fc.option(fc.constantFrom('sms' as const, 'email' as const)),
  status: fc.option(fc.constantFrom('queued' as const, 'failed' as const)),
  delivery: fc.constant(null),
  batchId: fc.option(fc.constantFrom(records?.find(({ batchId }) => batchId)?.batchId ?? '', 'nothing')),
  since: time,
  until: time,
});

describe('a list that looks at few rows for each page', () => {
  it('has every record that its filter takes, once and in order, whatever the limit', async () => {
    await fc.assert(
      fc.asyncProperty(filters, fc.integer({ min: 1, max: 5 }), async (filter, limit) => {
        const { to, channel, status, batchId, since, until } = filter;
        const expected = (records ?? []).filter(
          (record) =>
            (to === null || record.to === to) &&
            (channel === null || record.channel === channel) &&
            (status === null || record.status === status) &&
            (batchId === null || record.batchId === batchId) &&
            (since === null || record.createdAt >= since) &&
            (until === null || record.createdAt < until),
        );
        const found: unknown[] = [];
        let after: string | null = null;
        do {
          const page: Awaited<ReturnType<typeof lists.listMessages>> = await lists.listMessages(
            project.id,
            filter,
            {
              limit,
              after,
            },
          );
          const isSearched = [channel, status, since, until].some((each) => each !== null);
          expect(page?.records.length).toBeLessThanOrEqual(isSearched ? Math.min(limit, scanned) : limit);
          found.push(...(page?.records ?? []));
          after = page?.next ?? null;
        } while (after !== null);
        expect(found).toEqual(expected);
      }),
    );
  });

  it('offers an older page where it found nothing', async () => {
    const page = await lists.listMessages(
      project.id,
      { ...everything, delivery: 'bounced' },
      { limit: 5, after: null },
    );
    expect(page).toEqual({ records: [], next: records?.[scanned - 1]?.id });
  });
});
