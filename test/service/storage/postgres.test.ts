import { Client } from 'pg';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { type Clock, ManualClock } from '../../../src/service/clock.js';
import { keyTopic, messageTopic } from '../../../src/service/storage/changes.js';
import { openPostgresStorage } from '../../../src/service/storage/postgres/postgres-storage.js';
import { newRole } from '../../support/postgres/role.js';
import { emptyDatabase, newDatabase, newPooledDatabase, query } from '../../support/postgres.js';
import { isTestAll } from '../../support/test-all.js';
import { admissionConformance } from './conformance/admission.js';
import { changesConformance } from './conformance/changes.js';
import type { Engine, Handle } from './conformance/engine.js';
import { answerOf, batch, claimOf, failed, message, project, sent } from './conformance/fixture.js';
import { rateLimiterConformance } from './conformance/rate-limiter.js';
import { routeConformance } from './conformance/routes.js';
import { storeConformance } from './conformance/store.js';

const secret = new Uint8Array(32).fill(7);
let url: string;

const types =
  "ARRAY['text', 'name', '\"char\"', 'varchar', 'json', 'jsonb', 'int2', 'int4', 'int8', 'float8', 'numeric', 'bool', 'bytea', 'text[]', 'int8[]']";

/** What another role may put into a schema of the search path: it fits better than what PostgreSQL has for any type. */
const traps = `
  CREATE SCHEMA traps;
  DO $$ DECLARE l text; r text; o text; BEGIN
    FOREACH l IN ARRAY ${types} LOOP FOREACH r IN ARRAY ${types} LOOP
      EXECUTE format('CREATE FUNCTION traps.spring(%s, %s) RETURNS bool LANGUAGE plpgsql AS %L', l, r, 'BEGIN RAISE ''trapped''; END');
      FOREACH o IN ARRAY ARRAY['->', '->>', '#>>', '||', '=', '<>', '<', '<=', '>', '>=', '+', '-', '*', '/', '%', '~'] LOOP
        EXECUTE format('CREATE OPERATOR traps.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = traps.spring)', o, l, r);
      END LOOP;
    END LOOP; END LOOP;
  END $$;
  CREATE FUNCTION traps.count_up(bigint, text) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RAISE ''trapped''; END';
  CREATE FUNCTION traps.count_up(bigint, bigint) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RAISE ''trapped''; END';
  CREATE FUNCTION traps.unnest(text[]) RETURNS SETOF text LANGUAGE plpgsql AS 'BEGIN RAISE ''trapped''; END';
  CREATE FUNCTION traps.unnest(bigint[]) RETURNS SETOF bigint LANGUAGE plpgsql AS 'BEGIN RAISE ''trapped''; END';
  CREATE AGGREGATE traps.count(text) (SFUNC = traps.count_up, STYPE = bigint, INITCOND = '0');
  CREATE AGGREGATE traps.count(bigint) (SFUNC = traps.count_up, STYPE = bigint, INITCOND = '0');
  CREATE AGGREGATE traps.array_agg(text) (SFUNC = traps.count_up, STYPE = bigint, INITCOND = '0');
  CREATE AGGREGATE traps.array_agg(bigint) (SFUNC = traps.count_up, STYPE = bigint, INITCOND = '0')`;

beforeAll(async () => {
  url = await newPooledDatabase();
  await query(url, traps);
  await query(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = traps`);
});

async function openHandle(clock: Clock): Promise<Handle> {
  const storage = await openPostgresStorage({
    url,
    secret,
    clock,
    now: () => clock.now(),
    report(error) {
      throw error;
    },
  });
  return {
    ...storage,
    contents: () => query(url, 'SELECT text, encrypted FROM contents') as ReturnType<Handle['contents']>,
    async rows() {
      const tables = await query<{ name: string }>(
        url,
        "SELECT relname AS name FROM pg_class WHERE relnamespace = 'urtuu'::regnamespace AND relkind = 'r'",
      );
      const counted = tables.map(
        ({ name }) => `SELECT '${name}' AS name, count(*)::int AS rows FROM ${name}`,
      );
      const rows = await query<{ name: string; rows: number }>(url, counted.join(' UNION ALL '));
      return Object.fromEntries(rows.map(({ name, rows }) => [name, rows]));
    },
  };
}

const postgres: Engine = {
  name: 'PostgreSQL',
  ownsTime: false,
  handles: isTestAll ? [1, 2] : [2],
  async open(clocks) {
    await emptyDatabase(url);
    const handles: Handle[] = [];
    for (const clock of clocks) handles.push(await openHandle(clock));
    return handles;
  },
};

storeConformance(postgres);
rateLimiterConformance(postgres);
routeConformance(postgres);
admissionConformance(postgres);
changesConformance(postgres);

/** A database and its storage, for the rest of the test. */
async function ofItsOwn() {
  const database = await newDatabase();
  const clock = new ManualClock();
  const now = () => clock.now();
  const storage = await openPostgresStorage({ url: database, secret, clock, report() {}, now });
  onTestFinished(() => storage.close());
  return { database, clock, storage, store: storage.store };
}

it('a change wakes other instances before their poll', async () => {
  await emptyDatabase(url);
  const clock = new ManualClock();
  const handles = [await openHandle(clock), await openHandle(clock)] as const;
  onTestFinished(async () => {
    for (const handle of handles) await handle.close();
  });
  await handles[0].store.createProject(project);
  let woken = 0;
  handles[1].changes.subscribe('due', () => (woken += 1));
  // Its clock stands still: it never polls. Until it listens it hears nothing.
  await vi.waitUntil(async () => {
    await handles[0].store.acceptMessage(
      message({ credits: 1, caps: [20, 80], to: `${woken}${Math.random()}` }),
    );
    return woken > 0;
  });
  expect(woken).toBeGreaterThan(0);
});

it('another role that listens reads neither idempotency keys nor ids, and who waits for them is woken', async () => {
  const { database, clock, store } = await ofItsOwn();
  const other = await openPostgresStorage({
    url: database,
    secret,
    clock,
    report() {},
    now: () => clock.now(),
  });
  const { as } = await newRole(database);
  const listener = new Client({ connectionString: as });
  await listener.connect();
  onTestFinished(async () => {
    await listener.end();
    await other.close();
  });
  const heard: string[] = [];
  listener.on('notification', ({ payload = '' }) => heard.push(payload));
  const { rows } = await listener.query("SELECT 'urtuu'::regnamespace::oid AS oid");
  await listener.query(`LISTEN urtuu_changes_${rows[0].oid}`);
  await store.createProject(project);
  const woken = new Set<string>();
  const topics = [messageTopic('message-1'), keyTopic(project.id, 'order-99112233')];
  for (const topic of [...topics, messageTopic('message-2')])
    other.changes.subscribe(topic, () => woken.add(topic));
  // Its clock stands still: it never polls. Until it listens it hears nothing.
  await vi.waitUntil(async () => {
    const listening =
      "SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN %' AND datname = current_database()";
    return (await query(database, listening)).length === 3;
  });
  const accepted = await store.acceptMessage(
    message({ id: 'message-1', idempotencyKey: 'order-99112233', claim: claimOf('a') }),
  );
  const [claimed] = accepted.kind === 'accepted' ? accepted.claimed : [];
  if (claimed === undefined) throw new Error('it was not claimed');
  await store.finalizeMessages([{ claimed, outcome: sent }], answerOf);
  await vi.waitUntil(() => heard.length > 0);
  expect(heard.join()).not.toMatch(/99112233|message-/);
  await vi.waitUntil(() => woken.size === 2);
  expect([...woken].sort()).toEqual([...topics].sort());
});

it('the messages of a recipient are on one page, however many others came since', async () => {
  await emptyDatabase(url);
  const { store, close } = await openHandle(new ManualClock());
  onTestFinished(close);
  await store.createProject(project);
  const accepted = await store.acceptMessage(message({ to: '99112233' }));
  await query(
    url,
    `INSERT INTO messages (id, project, content, channel, recipient, credits, created_at, counts_at, lane, bound_at)
     SELECT 'other-' || i, 1, 1, 'sms', 'other-' || i, 10, 0, 0, 'sms', 0 FROM generate_series(1, 30001) i`,
  );
  const filter = { to: '99112233', channel: null, status: null, delivery: null, batchId: null };
  const page = { limit: 10, after: null };
  const listed = await store.listMessages(project.id, { ...filter, since: null, until: null }, page);
  const id = accepted.kind === 'accepted' ? accepted.message.id : '';
  expect(listed).toMatchObject({ records: [{ id }], next: null });
});

it('functions that were planned on empty tables read no whole index of large ones', async () => {
  const { database, clock, storage, store } = await ofItsOwn();
  await store.createProject({ ...project, balance: 100_000_000 });
  let tokens = 0;
  const lease = () => {
    tokens += 1;
    return { token: `t${tokens}`, leaseMs: 30_000, limit: 100, lane: 'sms' };
  };
  async function useAll(): Promise<void> {
    const accepted = await Promise.all(
      Array.from({ length: 4 }, () => {
        const { token } = lease();
        return store.acceptMessage(message({ to: token, idempotencyKey: token, claim: claimOf(token) }));
      }),
    );
    const taken = accepted.flatMap((one) => (one.kind === 'accepted' ? one.claimed : []));
    const waiting = await store.acceptBatch(batch(['1', '2', '3'], { idempotencyKey: lease().token }));
    expect([taken.length, waiting.kind]).toEqual([4, 'accepted']);
    const claimed = await store.claimMessages({ ...lease(), class: 'batch' });
    const mark = { attempt: 1, route: 'Mobicom' };
    await store.markSubmitting(claimed.map((one) => ({ claimed: one, ...mark, doubtMs: 1_000 })));
    const marked = claimed.map((one) => ({ ...one, attempts: 1, mark }));
    await store.leaveInDoubt(marked.map((one) => ({ claimed: one, delayMs: 0 })));
    const doubts = await store.claimDoubts(lease());
    await store.postponeMessages(
      doubts.slice(0, 1).map((one) => ({ claimed: one, delayMs: 0, isTry: true })),
    );
    const ends = await store.finalizeMessages(
      [...taken, ...doubts.slice(1)].map((one) => ({ claimed: one, outcome: failed })),
      answerOf,
    );
    expect(ends.filter((end) => end !== null)).toHaveLength(6);
    const again = await store.claimMessages({ ...lease(), class: 'batch' });
    await store.finalizeMessages(
      again.map((one) => ({ claimed: one, outcome: sent })),
      answerOf,
    );
    clock.advance(1);
  }
  // Each of the connections makes its plans.
  for (let times = 0; times < 12; times += 1) await useAll();
  await query(
    database,
    `INSERT INTO messages (id, project, batch, content, channel, recipient, credits, created_at, counts_at, lane,
       bound_at, status) SELECT 'm' || i, 1, i, i, 'sms', 'm' || i, 10, 0, 0, 'sms', 0, 'sent' FROM generate_series(10001, 30000) i;
     INSERT INTO idempotency SELECT 1, 'i' || i, 200, '' FROM generate_series(1, 20000) i;
     INSERT INTO queue SELECT 9000000000000, i, 0, 0, 1, 'sms' FROM generate_series(10001, 30000) i;
     INSERT INTO verifications SELECT 'v' || i, 1, i, '', 'pending', 5, 1, 0, 0 FROM generate_series(10001, 30000) i;
     INSERT INTO batches (seq, id, project, channel, total, credits, created_at)
       SELECT i, 'b' || i, 1, 'sms', 1, 0, 0 FROM generate_series(10001, 30000) i;
     SELECT pg_stat_reset()`,
  );
  await useAll();
  // What a backend has counted is known at its end.
  await storage.close();
  const readBy = () =>
    query<{ name: string; rows: number }>(
      database,
      `SELECT indexrelname AS name, idx_tup_read::int AS rows
       FROM pg_stat_user_indexes WHERE idx_tup_read > 10000 ORDER BY 1`,
    );
  const used = () =>
    query<{ uses: number }>(database, 'SELECT sum(idx_scan)::int AS uses FROM pg_stat_user_indexes');
  await vi.waitUntil(async () => ((await used())[0]?.uses ?? 0) > 50);
  expect(await readBy()).toEqual([]);
});

it('lists and the count of what waits neither look through all messages nor write to disk', async () => {
  const { database, storage, store } = await ofItsOwn();
  await store.createProject({ ...project, balance: 0 });
  await query(
    database,
    `INSERT INTO messages (id, project, content, channel, recipient, credits, created_at, counts_at, lane, bound_at, status, error_message)
       SELECT 'm' || i, 1, 1, 'sms', 'r' || i, 10, 0, 0, 'sms', 0, 'sent', repeat('x', 99) FROM generate_series(1, 90000) i;
     INSERT INTO queue SELECT 9000000000000, i, 0, 0, 1, 'sms' FROM generate_series(1, 25000) i;
     ANALYZE messages, queue`,
  );
  await query(database, 'SELECT pg_stat_reset()');
  const none = {
    to: null,
    channel: null,
    status: null,
    delivery: null,
    batchId: null,
    since: null,
    until: null,
  };
  const filters = [
    {},
    { to: 'r7' },
    { channel: 'sms' },
    { status: 'failed' },
    { delivery: 'bounced' },
    { until: -1 },
  ] as const;
  for (const after of [null, 'm80000'])
    for (const filter of filters)
      expect(
        await store.listMessages(project.id, { ...none, ...filter }, { limit: 50, after }),
      ).not.toBeNull();
  expect(await store.countWaiting(project.id)).toMatchObject({ count: 20_000, isWhole: false });
  await storage.close();
  const read = () =>
    query<{ uses: number; scanned: number; written: number }>(
      database,
      `SELECT seq_tup_read::int AS scanned, idx_scan::int AS uses,
         (SELECT temp_bytes::int FROM pg_stat_database WHERE datname = current_database()) AS written
       FROM pg_stat_user_tables WHERE relname = 'messages'`,
    );
  await vi.waitUntil(async () => ((await read())[0]?.uses ?? 0) > 20);
  expect(await read()).toMatchObject([{ scanned: 0, written: 0 }]);
});
