import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ManualClock } from '../../../src/service/clock.js';
import { migrate } from '../../../src/service/storage/postgres/database/migrate.js';
import { openPostgresStorage } from '../../../src/service/storage/postgres/postgres-storage.js';
import { migrations } from '../../../src/service/storage/postgres/schema/migrations.js';
import { connectionTo, newDatabase, query } from '../../support/postgres.js';
import { message, project, start } from './conformance/fixture.js';

const before = readFileSync(new URL('../../fixtures/postgres/schema-1.sql', import.meta.url), 'utf8');

/** A database of the release before. */
async function oldDatabase(): Promise<string> {
  const url = await newDatabase();
  await query(
    url,
    `${before}; CREATE TABLE urtuu_schema (version int NOT NULL); INSERT INTO urtuu_schema VALUES (1)`,
  );
  await query(url, 'INSERT INTO projects (id, name, balance, created_at) VALUES ($1, $2, 1000, $3)', [
    project.id,
    project.name,
    start,
  ]);
  await query(url, 'SELECT open_hold_1()');
  return url;
}

const recipients = (ids: readonly string[]) =>
  ids.map((id) => [id, `99${id.slice(1)}`, 'Mobicom', 'sms', 'Mobicom']);

/** What an instance of the release before asks the database. */
function oldInstance(url: string) {
  const ask = <Row = Record<string, unknown>>(text: string, values: unknown[]) =>
    query<Row>(url, text, values);
  return {
    async accept(id: string, messages: readonly string[], token: string | null = null) {
      const batch = {
        ...{ project: project.id, id, channel: 'sms', parts: 1, rate_multiplier: 1, credits: 10, text: 'hi' },
        ...{ token, lease_ms: 30_000, doubt_ms: 300_000, bound_ms: 60_000, caps: [20], windows: [60_000] },
        recipients: recipients(messages),
      };
      const [row] = await ask<{ seqs: number[] | null }>('SELECT * FROM accept_batch_1($1, $2)', [
        start,
        batch,
      ]);
      return (row?.seqs ?? []).map(Number);
    },
    finalize: (seq: number, id: string, delivery: string | null) =>
      ask('SELECT * FROM finalize_1($1, $2)', [
        start,
        JSON.stringify([
          {
            seq,
            id,
            attempt: 1,
            project: project.id,
            status: 'sent',
            delivery,
            credits: 10,
            is_encrypted: false,
          },
        ]),
      ]),
    stop: (id: string) =>
      ask('SELECT * FROM stop_batch_1($1, $2, $3, $4)', [start, id, 'provider_failed', 'no']),
  };
}

async function open(url: string) {
  const clock = new ManualClock(start);
  const secret = new Uint8Array(32).fill(7);
  const storage = await openPostgresStorage({ url, secret, clock, now: () => clock.now(), report() {} });
  onTestFinished(() => storage.close());
  return storage;
}

it('data of the release before is brought up to date', async () => {
  const url = await oldDatabase();
  const old = oldInstance(url);
  const [one = 0] = await old.accept('b1', ['m1', 'm2', 'm3'], 'lease');
  await old.finalize(one, 'm1', 'unknown');
  await old.accept('b2', ['m4', 'm5']);
  // Put off, as its messages were before they were stopped.
  await query(url, 'UPDATE queue SET due_at = due_at + 60000');
  await old.stop('b2');

  const { store } = await open(url);
  expect(await store.getBatch(project.id, 'b1')).toMatchObject({ unknown: 1 });
  expect(await store.queueDepth()).toMatchObject([{ lane: 'sms', waiting: 0, claimed: 2 }]);
  expect(await store.getProject(project.id)).toMatchObject({ balance: 970 });
});

const addresses = ['http://10.0.0.12:7788', null, 'http://10.0.0.11:7788'];
const named = 'http://10.0.0.11:7788, http://10.0.0.12:7788, i1';
const heartbeats: [what: string, first: number, beatsFor: number, warnings: string[], end: string][] = [
  ['go on', 0, 60_000, [named], `${named} after 30`],
  ['stop meanwhile', 0, 20_000, [named], 'migrated after 20'],
  ['die meanwhile', 0, 0, [named], 'migrated after 16'],
  ['have died', -15_001, 0, [], 'migrated after 0'],
];

it.each(heartbeats)(
  'a start over instances of the release before that %s waits 30 s for them, and names them',
  async (_, first, beatsFor, expected, end) => {
    const url = await oldDatabase();
    const clock = new ManualClock(start);
    const set =
      'INSERT INTO instances SELECT $1, $2, $3, $4, $4, $5 ON CONFLICT (id) DO UPDATE SET seen_at = $5';
    const beat = (at: number) =>
      Promise.all(addresses.map((address, i) => query(url, set, [`i${i}`, '1.0.0', address, '[]', at])));
    await beat(start + first);
    const warnings: Error[] = [];
    const passing = {
      monotonic: () => clock.monotonic(),
      after(milliseconds: number, run: () => void) {
        clock.advance(milliseconds);
        const passed = clock.monotonic();
        if (passed < beatsFor) void beat(clock.now()).then(run);
        else if (beatsFor > 0) void query(url, 'DELETE FROM instances').then(run);
        else run();
        return () => {};
      },
    };
    const migrated = migrate({ url }, [migrations], {
      warn: (warning) => warnings.push(warning),
      clock: passing,
      now: () => clock.now(),
    });
    const found = await migrated.then(
      () => 'migrated',
      ({ message, hint }) => {
        expect(hint).toBe('Nothing was changed. Stop all instances, then start them in this version.');
        return message.replace('instances of an earlier version are running: ', '');
      },
    );
    expect(`${found} after ${clock.monotonic() / 1_000}`).toBe(end);
    expect(warnings.map(({ message }) => message)).toEqual(
      expected.map(
        (names) => `waiting up to 30 s until these instances of an earlier version stop: ${names}`,
      ),
    );
    const version = found === 'migrated' ? migrations.steps.length : 1;
    expect(await query(url, 'SELECT version FROM urtuu_schema')).toEqual([{ version }]);
  },
);

it('counts and suppresses addresses of the release before in all their spellings', async () => {
  const url = await oldDatabase();
  const rows = ['Bat+1@b.mn', 'bat@b.mn', 'BAT@b.mn', '+x@b.mn', '99112233'];
  for (const [index, to] of rows.entries())
    await query(
      url,
      `INSERT INTO messages (id, project, content, channel, recipient, credits, created_at, counts_at, lane, bound_at)
       VALUES ($1, 1, 1, CASE WHEN strpos($2, '@') > 0 THEN 'email' ELSE 'sms' END, $2, 2, $3, $3, 'email', $3)`,
      [`m${index}`, to, start],
    );
  const words = ['it bounced', 'again', '550 no such user', 'pruned', 'asked by SMS for no more messages'];
  for (const [index, to] of ['BAT@b.mn', 'bat@b.mn', 'C@b.mn', 'erased:Abc', '99112233'].entries())
    await query(
      url,
      'INSERT INTO suppressions (project, recipient, reason, created_at) VALUES (1, $1, $2, 1)',
      [to, words[index]],
    );
  const { store } = await open(url);
  expect(await query(url, 'SELECT mailbox FROM messages ORDER BY seq')).toEqual(
    ['bat@b.mn', null, 'bat@b.mn', null, null].map((mailbox) => ({ mailbox })),
  );
  const listed = await store.listSuppressions(project.id, { limit: 9, after: null });
  expect(Object.fromEntries(listed?.records.map(({ to, reason }) => [to, reason]) ?? [])).toEqual({
    'bat@b.mn': 'unknown_recipient',
    'c@b.mn': 'unknown_recipient',
    'erased:Abc': 'unknown_recipient',
    99112233: 'opt_out',
  });
  const mail = { channel: 'email', operator: null, to: 'baT@b.mn' } as const;
  expect(await store.acceptMessage(message({ ...mail, caps: [2, 2] }))).toMatchObject({ kind: 'suppressed' });
  await store.removeSuppression(project.id, 'bat@b.mn');
  expect(await store.acceptMessage(message({ ...mail, caps: [2, 2] }))).toMatchObject({ kind: 'capped' });
  expect(await store.acceptMessage(message({ ...mail, caps: [3, 3] }))).toMatchObject({ kind: 'accepted' });
});

it('waits for who reads for long, such as a dump, and lets others write meanwhile', async () => {
  const url = await oldDatabase();
  const old = oldInstance(url);
  const reader = new Client(connectionTo(url));
  await reader.connect();
  await reader.query('BEGIN');
  await reader.query('SELECT FROM messages');
  let isOpen = false;
  const opening = open(url).then((storage) => {
    isOpen = true;
    return storage;
  });
  const waits = async () =>
    (
      await query(
        url,
        "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
      )
    ).length > 0;
  for (let times = 0; times < 2; times += 1) {
    await vi.waitUntil(waits, { interval: 5, timeout: 10_000 });
    const begun = performance.now();
    await old.accept(`b${times}`, [`m${times}`]);
    expect(performance.now() - begun).toBeLessThan(2_000);
    await vi.waitUntil(async () => !(await waits()), { interval: 5, timeout: 10_000 });
  }
  expect(isOpen).toBe(false);
  await reader.query('COMMIT');
  await reader.end();
  const { store } = await opening;
  expect(await store.getBatch(project.id, 'b1')).toMatchObject({ total: 1, unknown: 0 });
});

it('an upgraded database has the functions and tables of a new one', async () => {
  const [upgraded, made] = [await oldDatabase(), await newDatabase()];
  for (const url of [upgraded, made]) await open(url);
  const contentsOf = async (url: string) =>
    (
      await query<{ name: string }>(
        url,
        `SELECT regexp_replace(p.oid::regprocedure::text, '(urtuu|public)\\.', '', 'g') AS name FROM pg_proc p
           JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname IN ('urtuu', 'public')
         UNION SELECT table_name || '.' || column_name || ' ' || data_type FROM information_schema.columns
           WHERE table_schema IN ('urtuu', 'public')
         ORDER BY name`,
      )
    ).map(({ name }) => name);
  expect(await contentsOf(upgraded)).toEqual(await contentsOf(made));
});
