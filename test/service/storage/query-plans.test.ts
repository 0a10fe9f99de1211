import { expect, it } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import { createPolledChanges } from '../../../src/service/storage/shared/polled-changes.js';
import type { Database } from '../../../src/service/storage/sqlite/database/database.js';
import { openStoreDatabase, sqliteStore } from '../../../src/service/storage/sqlite/sqlite-store.js';
import type { MessageQuery } from '../../../src/service/storage/store.js';
import { batch, message, project, start } from './conformance/fixture.js';

/** All messages, or all messages or suppressed recipients of a project; whether it has any is a look at an index. */
const looksThroughAll = /^SCAN (messages|m|e)$|messages_project|(?<!COVERING )INDEX suppressions_project/;

/** A store, and the plans of all statements that it has prepared. */
async function watchedStore() {
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
  function plans() {
    const statements = [...asked].filter((sql) => /^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)\b/.test(sql));
    asked.clear();
    return statements.map((sql) => {
      const steps = real.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[];
      return { sql, plan: steps.map(({ detail }) => detail) };
    });
  }
  return { store, plans };
}

it('no statement of a send looks through all messages, nor through all of its project', async () => {
  const { store, plans } = await watchedStore();
  await store.findSuppressions(project.id, ['1', 'a@b.mn']);
  await store.listSendersTo('1', 'Mobicom');
  const all = plans();
  const slow = all.filter(({ plan }) => plan.some((step) => looksThroughAll.test(step)));
  expect(all.length).toBeGreaterThan(40);
  // A reset does, which removes them all.
  expect(slow.map(({ sql }) => sql)).toEqual([expect.stringMatching(/^SELECT id, recipient FROM messages/)]);
});

it('every statement of a list or a page goes along an index, newest first, and ends', async () => {
  const { store, plans } = await watchedStore();
  plans();
  const filters: Partial<MessageQuery>[] = [
    {},
    { to: '1' },
    { to: 'bat@b.mn' },
    { channel: 'sms' },
    { status: 'failed' },
    { delivery: 'bounced' },
    { batchId: 'b' },
    { since: start },
    { until: start },
    { to: '1', status: 'failed', batchId: 'b', since: start },
  ];
  const none = {
    to: null,
    channel: null,
    status: null,
    delivery: null,
    batchId: null,
    since: null,
    until: null,
  };
  const first = await store.listMessages(project.id, none, { limit: 1, after: null });
  const after = first?.next ?? '';
  for (const filter of filters)
    for (const page of [
      { limit: 50, after: null },
      { limit: 50, after },
    ])
      expect(await store.listMessages(project.id, { ...none, ...filter }, page)).not.toBeNull();
  await store.listBatches(project.id, { ...none, status: 'completed' }, { limit: 50, after: null });
  await store.countMessages(project.id, start, 1_000);
  await store.countWaiting(project.id);
  await store.countVerifications(project.id, start);
  for (const numbers of [null, ['1', '2'] as const])
    await store.verificationWait(project.id, { most: 1, windowMs: 1_000, numbers });
  await store.getHistory(project.id, after);
  await store.isKeyedBetween(project.id, after, ['a', 'b']);
  await store.getIncoming(project.id, after);
  await store.ownMessages(project.id, [after, 'none']);
  await store.listLedgerPage(project.id, { limit: 50, before: 3 });
  for (const filter of [{}, { since: start }, { until: start }, { channel: 'sms' } as const])
    await store.listInbox(project.id, { ...none, ...filter }, { limit: 25, after: null });
  await store.beginEvents(project.id, 1);
  await store.stopBatch('b', { code: 'c', message: 'm' });
  await store.takeEvents(project.id, null, { limit: 50, types: null });
  await store.eventLines([project.id]);
  await store.queueDepth();
  await store.findWaiting('sms', [project.id]);
  const all = plans();
  expect(all.length).toBeGreaterThan(20);
  const isLong = /^SCAN (?!json_each|\(subquery|\d|full|CONSTANT|hold$)|messages_project/;
  const slow = all.filter(({ sql, plan }) => {
    const ends =
      /LIMIT/.test(sql) && !(/messages_project/.test(sql) && plan.includes('USE TEMP B-TREE FOR ORDER BY'));
    return plan.some((step) => isLong.test(step)) && !ends;
  });
  expect(slow).toEqual([]);
});
