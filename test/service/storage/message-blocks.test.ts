import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import { createPolledChanges } from '../../../src/service/storage/shared/polled-changes.js';
import { inTime, prepareMessageBlocks } from '../../../src/service/storage/sqlite/accept/message-blocks.js';
import type { Database } from '../../../src/service/storage/sqlite/database/database.js';
import { migrations } from '../../../src/service/storage/sqlite/schema/schema.js';
import { openStoreDatabase, sqliteStore } from '../../../src/service/storage/sqlite/sqlite-store.js';
import { batch, project, start } from './conformance/fixture.js';

const size = 4;
const database = await openStoreDatabase(':memory:');

function store(times: readonly number[]): { first: number; last: number } {
  const insert = database.prepare(
    `INSERT INTO messages (id, project, content, channel, recipient, status, credits, created_at)
     VALUES (hex(randomblob(8)), 1, 1, 'sms', '1', 'sent', 1, ?)`,
  );
  const rows = times.map((time) => Number(insert.run(time).lastInsertRowid));
  return { first: rows[0] ?? 0, last: rows.at(-1) ?? 0 };
}

const time = fc.integer({ min: 0, max: 60 });
const bound = fc.option(time);
const chunks = fc.array(fc.array(time, { minLength: 1, maxLength: 11 }), { maxLength: 6 });

it('the span of a time has all its messages, whatever the clock did and an older release emptied', () => {
  fc.assert(
    fc.property(chunks, chunks, fc.boolean(), bound, bound, (emptied, given, isSetBack, since, until) => {
      database.exec('DELETE FROM messages; DELETE FROM message_blocks');
      const blocks = prepareMessageBlocks(database, size);
      const accept = (all: readonly (readonly number[])[]) => {
        for (const chunk of all) {
          const { first, last } = store(chunk);
          blocks.accepted(first, last);
        }
      };
      accept(emptied);
      database.exec('DELETE FROM messages');
      const times = isSetBack ? given.flat() : given.flat().toSorted((a, b) => a - b);
      const left = [...times];
      accept(given.map(({ length }) => left.splice(0, length)));
      const isTaken = (one: number) => (since === null || one >= since) && (until === null || one < until);
      const rows = times.flatMap((one, index) => (isTaken(one) ? [index + 1] : []));
      const span = database
        .prepare(`SELECT ${inTime('min(first)', size)} AS first, ${inTime('max(last)', size)} AS last`)
        .get({ since, until }) as { first: number; last: number };
      expect(rows.filter((row) => !(row >= span.first && row <= span.last))).toEqual([]);
      if (isSetBack || rows.length === 0) return;
      expect(span.first).toBeGreaterThan((rows[0] ?? 0) - size);
      expect(span.last).toBeLessThan((rows.at(-1) ?? 0) + size);
    }),
  );
});

it('full blocks are stored as messages are accepted, and by the step that brings them', async () => {
  const clock = new ManualClock(start);
  const file = await openStoreDatabase(':memory:');
  const whole = sqliteStore(file, clock, createPolledChanges(clock), (to) => `erased:${to}`);
  await whole.createProject({ ...project, balance: 1_000_000 });
  const recipients = Array.from({ length: 1_000 }, (_, index) => String(index));
  for (let index = 0; index < 5; index += 1) {
    clock.advance(index === 3 ? -5_000 : 1_000);
    await whole.acceptBatch(batch(recipients));
  }
  const blocks = [
    { block: 0, earliest: start + 1_000, latest: start + 2_000 },
    { block: 1, earliest: start + 2_000, latest: start + 3_000 },
    { block: 2, earliest: start - 2_000, latest: start + 3_000 },
    { block: 3, earliest: start - 2_000, latest: start - 1_000 },
  ];
  expect(blocksOf(file)).toEqual(blocks);
  file.exec(`DROP TABLE message_blocks; DROP INDEX messages_project; DROP INDEX batches_project`);
  file.exec(migrations.find((step) => step.includes('CREATE TABLE message_blocks')) ?? '');
  expect(blocksOf(file)).toEqual(blocks);
  await whole.reset(0, 0);
  expect(blocksOf(file)).toEqual([]);
});

function blocksOf(file: Database): unknown[] {
  return file.prepare('SELECT * FROM message_blocks ORDER BY block').all();
}
