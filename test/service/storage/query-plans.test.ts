import { expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import { createPolledChanges } from '../../../src/service/storage/polled-changes.js';
import type { Database } from '../../../src/service/storage/sqlite/database/open.js';
import { openStoreDatabase, sqliteStore } from '../../../src/service/storage/sqlite/sqlite-store.js';
import { batch, message, project, start } from './conformance/fixture.js';

/** All messages, or all of a project. */
const looksThroughAll = /^SCAN (messages|m|e)$|messages_project/;

it('no statement of a send looks through all messages, nor through all of its project', async () => {
  const real = await openStoreDatabase(':memory:');
  const asked = new Set<string>();
  const database: Database = {
    isTransaction: false,
    exec: (sql) => real.exec(sql),
    close: () => real.close(),
    prepare(sql) {
      asked.add(sql);
      return real.prepare(sql);
    },
  };
  const clock = new ManualClock(start);
  const store = sqliteStore(database, clock, createPolledChanges(clock), (to) => `erased:${to}`);
  await store.createProject({ ...project, balance: 1_000 });
  await store.acceptMessage(message({ to: '1' }));
  await store.acceptBatch(batch(['1', '2']));
  const plans = [...asked]
    .filter((sql) => /^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)\b/.test(sql))
    .map((sql) => {
      const steps = real.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[];
      return { sql, plan: steps.map(({ detail }) => detail) };
    });
  const slow = plans.filter(({ plan }) => plan.some((step) => looksThroughAll.test(step)));
  expect(plans.length).toBeGreaterThan(40);
  // A reset does, which removes them all.
  expect(slow.map(({ sql }) => sql)).toEqual([expect.stringMatching(/^SELECT id, recipient FROM messages/)]);
});
