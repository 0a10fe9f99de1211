import { Client } from 'pg';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../src/service/clock.js';
import { openPostgresStorage } from '../../../src/service/storage/postgres/postgres-storage.js';
import type { ClaimedMessage, Store } from '../../../src/service/storage/store.js';
import { startProxy } from '../../support/postgres/proxy.js';
import { connectionTo, copyOfDatabase, newDatabase, query } from '../../support/postgres.js';
import { answerOf, batch, claimOf, doubtMs, failed, message, project, sent } from './conformance/fixture.js';

const secret = new Uint8Array(32).fill(7);
const open = (url: string) => openPostgresStorage({ url, secret, clock: systemClock, report() {} });
let template: string;

beforeAll(async () => {
  template = await newDatabase();
  const { store, close } = await open(template);
  await store.createProject(project);
  await close();
});

async function opened({ statementTimeout = '5s' } = {}): Promise<{ url: string; store: Store }> {
  const url = await copyOfDatabase(template);
  await query(
    url,
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = %L', current_database(), '${statementTimeout}'); END $$`,
  );
  await query(url, 'SELECT set_hold_1(NULL)');
  const { store, close } = await open(url);
  onTestFinished(close);
  return { url, store };
}

/** A session that holds locks. */
async function session(url: string): Promise<Client> {
  const client = new Client(connectionTo(url));
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('BEGIN');
  return client;
}

/** Until a statement waits for a lock. */
async function oneWaits(url: string): Promise<void> {
  const waiting =
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
  await vi.waitUntil(async () => (await query(url, waiting))[0]?.n === 1, { timeout: 1_500, interval: 10 });
}

const claim = (store: Store, token: string) =>
  store.claimMessages({ token, leaseMs: 30_000, limit: 10, lane: 'sms', class: 'single' });
const markOf = (claimed: ClaimedMessage) => ({
  claimed,
  attempt: claimed.attempts + 1,
  route: 'Mobicom',
  doubtMs,
});
const marked = (claimed: ClaimedMessage): ClaimedMessage => {
  const attempt = claimed.attempts + 1;
  return { ...claimed, attempts: attempt, mark: { attempt, route: 'Mobicom' } };
};

async function accepted(store: Store, token: string): Promise<ClaimedMessage> {
  const result = await store.acceptMessage(message({ claim: claimOf(token) }));
  if (result.kind !== 'accepted') throw new Error(result.kind);
  return result.claimed[0] as ClaimedMessage;
}

it('a message taken back while its lease ends and its doubt is claimed waits once, in no lease', async () => {
  const { url, store } = await opened();
  const claimed = await accepted(store, 'a');
  await query(url, 'UPDATE leases SET until = 0, length = 0');
  const other = await session(url);
  await other.query('SELECT end_leases_1(NULL, 0)');
  const waits = store.postponeMessages([{ claimed, delayMs: 0, isTry: false }]);
  await oneWaits(url);
  expect(
    (await other.query("SELECT * FROM claim_1(NULL, 'b', 30000, 10, 'sms', 2, false, 0, 0)")).rowCount,
  ).toBe(1);
  await other.query('COMMIT');
  await waits;
  expect(await query(url, 'SELECT * FROM leases')).toEqual([]);
  expect(await query(url, 'SELECT class FROM queue')).toEqual([{ class: 0 }]);
});

describe('a batch stopped while its messages are claimed leaves none in a lease or in the queue', () => {
  const stop = async (store: Store, id: string) =>
    (await store.stopBatch(id, { code: 'provider_failed', message: 'no' }))?.stopped;
  const claimBatch = (store: Store, token: string, limit = 10) =>
    store.claimMessages({ token, leaseMs: 30_000, limit, lane: 'sms', class: 'batch' });
  const remains = (url: string) =>
    query(url, 'SELECT token AS of FROM leases UNION ALL SELECT lane FROM queue');

  it('by a claim that commits while the stop waits for it', async () => {
    const { url, store } = await opened();
    const stopped = batch(['99110001', '99110002', '99110003']);
    await store.acceptBatch(stopped);
    const other = await session(url);
    const claimed = "SELECT * FROM claim_3(NULL, 'a', 30000, 2, 'sms', 1, NULL, 0, 0, NULL)";
    expect((await other.query(claimed)).rowCount).toBe(2);
    const stops = stop(store, stopped.batchId);
    await oneWaits(url);
    // The claim may be marking at once, with its lease locked: they would wait for each other.
    await other.query('SELECT FROM messages FOR NO KEY UPDATE NOWAIT');
    await other.query('COMMIT');
    expect(await stops).toBe(3);
    expect(await remains(url)).toEqual([]);
  });

  it('by a claim of one that was put back while the stop waits for its leases', async () => {
    const { url, store } = await opened();
    const stopped = batch(['99110001', '99110002']);
    await store.acceptBatch(stopped);
    await claimBatch(store, 'a', 1);
    const [claimed] = (await claimBatch(store, 'b', 1)) as [ClaimedMessage];
    const other = await session(url);
    await other.query("SELECT FROM leases WHERE token = 'a' FOR UPDATE");
    const stops = stop(store, stopped.batchId);
    await oneWaits(url);
    await store.postponeMessages([{ claimed, delayMs: 0, isTry: false }]);
    expect(await claimBatch(store, 'c')).toHaveLength(1);
    await other.query('COMMIT');
    expect(await stops).toBe(2);
    expect(await remains(url)).toEqual([]);
  });
});

it('a marked message is claimed by nobody, wherever else it still waits', async () => {
  const { url, store } = await opened();
  await accepted(store, 'a');
  await query(
    url,
    "INSERT INTO queue (lane, class, due_at, message, queued_at, bound_at) SELECT 'sms', 0, 1, seq, 1, 1 FROM messages",
  );
  expect(await claim(store, 'b')).toEqual([]);
});

it('a mark whose answer is lost is cleared, for nothing was submitted from it', async () => {
  const { url, store } = await opened();
  const proxy = await startProxy(url);
  onTestFinished(() => proxy.close());
  const cut = await open(proxy.url);
  onTestFinished(cut.close);
  await store.acceptMessage(message());
  const [claimed] = (await claim(store, 'a')) as [ClaimedMessage];
  proxy.cutAt('mark_2', 'after');
  await expect(cut.store.markSubmitting([markOf(claimed)])).rejects.toMatchObject({ status: 503 });
  const isUnmarked = async () => (await query(url, 'SELECT route FROM messages'))[0]?.route === null;
  await vi.waitUntil(isUnmarked, { timeout: 5_000, interval: 20 });
  await store.postponeMessages([{ claimed, delayMs: 0, isTry: true }]);
  expect(await claim(store, 'b')).toMatchObject([{ attempts: 1, mark: null }]);
});

it('a mark of another lease is not cleared with one that was lost', async () => {
  const { url, store } = await opened();
  await store.acceptMessage(message());
  const [before] = (await claim(store, 'a')) as [ClaimedMessage];
  await store.postponeMessages([{ claimed: before, delayMs: 0, isTry: false }]);
  const [since] = (await claim(store, 'b')) as [ClaimedMessage];
  expect(await store.markSubmitting([markOf(since)])).toEqual([true]);
  const { seq, token } = before;
  await query(url, 'SELECT unmark_1($1)', [
    JSON.stringify([{ seq, id: before.message.id, token, attempt: 1 }]),
  ]);
  expect(await query(url, 'SELECT route FROM messages')).toEqual([{ route: 'Mobicom' }]);
});

it('leases that are too many for one statement are ended by several, those of a held store too', async () => {
  const { url, store } = await opened({ statementTimeout: '800ms' });
  const manyLeases = `INSERT INTO leases (token, until, length, messages)
    SELECT 'l' || n, 0, 0, ARRAY[-n] FROM generate_series(1, 60) n`;
  // Each takes 20 ms, however fast the machine is.
  await query(
    url,
    `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.02); RETURN OLD; END $$`,
  );
  await query(url, 'CREATE TRIGGER slow BEFORE DELETE ON leases FOR EACH ROW EXECUTE FUNCTION slow()');
  const left = async () => (await query(url, 'SELECT count(*)::int AS n FROM leases'))[0]?.n as number;
  await query(url, manyLeases);
  await store.endLeases();
  const rest = await left();
  expect(rest).toBeGreaterThan(0);
  expect(rest).toBeLessThan(60);
  await store.hold('failed_over');
  expect(await store.claimUnfinished({ token: 'a', leaseMs: 30_000, limit: 10 })).toEqual([]);
  await store.release();
  expect([await left(), await store.held()]).toEqual([0, null]);
});

it('a dump that is loaded without its hold is held', async () => {
  const { url, store } = await opened();
  await store.acceptMessage(message());
  await query(url, 'DELETE FROM hold');
  expect([await store.held(), await store.acceptMessage(message())]).toEqual(['restored', { kind: 'held' }]);
  expect(await claim(store, 'a')).toEqual([]);
  const again = await open(url);
  onTestFinished(again.close);
  expect(await again.store.held()).toBe('restored');
  await again.store.release();
  expect(await claim(store, 'b')).toHaveLength(1);
});

it('of two marks of one attempt that come together one is given', async () => {
  const { store } = await opened();
  await store.acceptMessage(message());
  const [claimed] = (await claim(store, 'a')) as [ClaimedMessage];
  expect(await store.markSubmitting([markOf(claimed), markOf(claimed)])).toEqual([true, false]);
});

it('a submission whose mark a failover has lost ends nothing that was marked since the release', async () => {
  const { url, store } = await opened();
  await store.acceptMessage(message());
  const [before] = (await claim(store, 'a')) as [ClaimedMessage];
  expect(await store.markSubmitting([markOf(before)])).toEqual([true]);
  await query(url, 'UPDATE messages SET route = NULL, attempts = 0, doubt_ms = NULL');
  await store.hold('failed_over');
  await store.release();
  const [since] = (await claim(store, 'b')) as [ClaimedMessage];
  expect(await store.markSubmitting([markOf(since)])).toEqual([true]);
  await store.postponeMessages([{ claimed: marked(before), delayMs: 0, isTry: true }]);
  expect(await claim(store, 'c')).toEqual([]);
  expect(await store.finalizeMessages([{ claimed: marked(before), outcome: failed }], answerOf)).toEqual([
    null,
  ]);
  expect(await store.finalizeMessages([{ claimed: marked(since), outcome: sent }], answerOf)).toMatchObject([
    { balance: project.balance - 10 },
  ]);
  expect(await store.getHistory(project.id, before.message.id)).toMatchObject({ attempts: 1 });
});

it('a submission whose mark a failover has lost ends its message while the store is held, again too', async () => {
  const { url, store } = await opened();
  for (let round = 1; round <= 2; round += 1) {
    await store.acceptMessage(message());
    const [claimed] = (await claim(store, `a${round}`)) as [ClaimedMessage];
    expect(await store.markSubmitting([markOf(claimed)])).toEqual([true]);
    await query(
      url,
      "UPDATE messages SET route = NULL, attempts = 0, doubt_ms = NULL WHERE status = 'queued'",
    );
    await store.hold('failed_over');
    expect(
      await store.finalizeMessages([{ claimed: marked(claimed), outcome: sent }], answerOf),
    ).toMatchObject([{ message: { status: 'sent' } }]);
    await store.release();
  }
});

describe('events of a message that ends', () => {
  const read = { limit: 10, types: null };
  const end = (client: Client, { seq, message: { id }, token }: ClaimedMessage) => {
    const item = { seq, id, token, attempt: 1, project: project.id, status: 'sent', carrier_ids: [] };
    return client.query('SELECT * FROM finalize_2(NULL, $1)', [JSON.stringify([item])]);
  };

  it('before a line is seen keep it from beginning: nobody waits for what is not recorded', async () => {
    const { url, store } = await opened();
    const claimed = await accepted(store, 'a');
    const other = await session(url);
    await end(other, claimed);
    expect(await store.beginEvents(project.id, 1)).toBe(false);
    expect(await store.takeEvents(project.id, null, read)).toBeNull();
    // What begins to end meanwhile is recorded.
    await store.finalizeMessages([{ claimed: await accepted(store, 'b'), outcome: sent }], answerOf);
    await other.query('COMMIT');
    expect(await store.beginEvents(project.id, 2)).toBe(true);
    expect(await store.takeEvents(project.id, null, read)).toMatchObject({
      events: [{ line: 1, number: 1, type: 'message.sent' }],
    });
  });

  it('after another one, and is committed before it, come first; the other one is not skipped', async () => {
    const { url, store } = await opened();
    await store.beginEvents(project.id, 1);
    const [first, second] = [await accepted(store, 'a'), await accepted(store, 'b')];
    const other = await session(url);
    await end(other, first);
    await store.finalizeMessages([{ claimed: second, outcome: sent }], answerOf);
    const about = ({ message: { id } }: ClaimedMessage) => ({ subject: { id } });
    expect(await store.takeEvents(project.id, null, read)).toMatchObject({ events: [about(second)] });
    await other.query('COMMIT');
    expect(await store.takeEvents(project.id, { line: 1, number: 1 }, read)).toMatchObject({
      events: [about(first)],
      next: { number: 2 },
    });
  });
});
