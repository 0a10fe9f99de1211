import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Carrier } from '../../../src/service/carriers/carrier.js';
import { openOutboxDatabase } from '../../../src/service/carriers/simulated/sqlite-outbox.js';
import { systemClock } from '../../../src/service/clock.js';
import { backup, checkFree, restore } from '../../../src/service/data/data-copies.js';
import { type MovedTable, movedTables, unfilled, unmoved } from '../../../src/service/data/move/mapping.js';
import {
  abandonMove,
  type Moved,
  type MoveMark,
  type MoveOptions,
  moveData,
  moveMarks,
} from '../../../src/service/data/move/move-data.js';
import { openSource } from '../../../src/service/data/move/source.js';
import { DatabaseFailure, openTarget } from '../../../src/service/data/move/target.js';
import { verify } from '../../../src/service/data/verify-data.js';
import { DataError, DataInUseError } from '../../../src/service/errors/data-error.js';
import { openAdministration } from '../../../src/service/open-administration.js';
import { loadEngine } from '../../../src/service/storage/sqlite/database/engine.js';
import { migrations } from '../../../src/service/storage/sqlite/schema/schema.js';
import { openStoreDatabase } from '../../../src/service/storage/sqlite/sqlite-store.js';
import { Cores, caller, ledgerDifference, outboxOf, replayOf } from '../../support/cores.js';
import { backupOfDatabase, connectionTo, newDatabase, query } from '../../support/postgres.js';
import { isTestAll } from '../../support/test-all.js';

const cores = new Cores();
const makers = new Cores();
let filled: Filled | undefined;
let template: string | undefined;
afterAll(() => makers.closeAll());
let directory: string;
let root: string;
let url: string;
beforeEach(async () => {
  root = cores.folder();
  directory = join(root, 'data');
  url = await newDatabase();
});
afterEach(() => cores.closeAll());

const closed = (carriers: readonly Carrier[]) =>
  carriers.map((one): Carrier => ({ ...one, capacity: () => 0 }));
const hanging = (carriers: readonly Carrier[]) =>
  carriers.map((one): Carrier => ({ ...one, submit: () => new Promise(() => {}) }));
const secretFile = () => join(root, 'urtuu.secret');
const options = () => ({ directory, url, database: 'postgres://db/urtuu', secretFile: secretFile() });

/** As when its processes have ended: on Node.js 20 a connection that was closed keeps its locks for a while. */
function end(): void {
  cpSync(directory, `${directory}.ended`, { recursive: true });
  rmSync(directory, { recursive: true });
  renameSync(`${directory}.ended`, directory);
}

function move(more: Partial<MoveOptions> = {}): Promise<Moved> {
  end();
  return moveData({ ...options(), ...more });
}

/** Makes a new copy of a folder as it is now: on Node.js 20 one that was opened keeps its locks for a while. */
function copyOf(folder: string): () => string {
  const kept = `${folder} kept`;
  cpSync(folder, kept, { recursive: true });
  let copies = 0;
  return () => {
    copies += 1;
    cpSync(kept, `${folder} copy ${copies}`, { recursive: true });
    return `${folder} copy ${copies}`;
  };
}

class Killed extends Error {}

/** Everything that stays of a process that dies at a mark: what it has written. */
async function killedAt(mark: MoveMark, call = 1): Promise<void> {
  let calls = 0;
  const at = (reached: MoveMark) => {
    if (reached === mark && ++calls === call) throw new Killed(mark);
  };
  await expect(move({ at })).rejects.toThrow(Killed);
}

interface Filled {
  answers: Map<string, unknown>;
  balance: number;
  messages: unknown[];
  /** Ids of what waits. */
  waiting: string[];
  doubtId: string;
  verification: { id: string; code: string };
  /** When it was as these say: what waits is due for so long only. */
  at: number;
}

/** The folder of the test, as `fillFolder` has left it. */
async function fill(held = false): Promise<Filled> {
  template ??= makers.folder();
  filled ??= await fillFolder(template);
  cpSync(template, directory, { recursive: true });
  if (held) {
    const core = await cores.open({ directory }, { carriers: closed });
    await core.store.hold('restored');
    await core.close();
  }
  return filled;
}

/** A service with one of everything, ended: some of it sent, some waiting, one message in doubt. */
async function fillFolder(directory: string): Promise<Filled> {
  const answers = new Map<string, unknown>();
  const keys: string[] = [];
  const core = await cores.open({ directory });
  const { operations, store, administration } = core;
  const send = (to: string, key: string) => {
    keys.push(key);
    return operations.sendSms({ caller, params: { to, text: 'hi' }, idempotencyKey: key });
  };
  await send('99112233', 'single');
  await send('99000001', 'failed');
  await send('88112233', 'pruned later');
  keys.push('batch', 'waiting', 'waiting batch');
  const batch = { to: ['95112233', '94112233', '99000009'], text: 'Сайн уу' };
  await operations.sendSmsBulk({ caller, params: batch, idempotencyKey: 'batch' });
  const { id } = await operations.createVerification(caller, { to: '99887766' });
  await administration.idle();
  const code = (await outboxOf(core)).find(({ to }) => to === '99887766')?.code ?? '';
  await store.suppress(caller.projectId, 'gone@example.mn', 'unknown_recipient');
  await store.credit(caller.projectId, 500, { id: 'gift', note: 'a gift' });
  await store.createProject({ id: 'shop', name: 'Shop', balance: 7 });
  await store.changeSettings('shop', () => '{"brand_name":"Shop"}');
  await administration.prune({ to: '88112233' });
  const incoming = {
    projectId: caller.projectId,
    channel: 'sms',
    from: '99112233',
    to: '1234',
    subject: null,
  } as const;
  for (const [number, part] of [
    [2, 'world'],
    [1, 'hello '],
  ] as const) {
    await store.keepIncoming({
      ...incoming,
      id: `in-${number}`,
      text: part,
      fingerprint: null,
      part: { reference: '7', number, total: 3 },
    });
  }
  await core.close();

  const dying = await cores.openMortal({ directory, report() {} }, { carriers: hanging, leaseMs: 60_000 });
  void dying.operations
    .sendSms({ caller, params: { to: '86112233', text: 'hi' }, idempotencyKey: 'in doubt' })
    .catch(() => {});
  await vi.waitUntil(async () => (await dying.store.countUnfinished()).submitting === 1);
  const page = { limit: 1, after: null };
  const found = await dying.operations.listMessages(caller, { to: '86112233' }, page);
  const doubtId = found.data[0]?.id ?? '';
  await dying.storage.close();
  await dying.carrier.outbox.close();

  const last = await cores.open({ directory }, { carriers: closed });
  const email = { to: 'bat@example.mn', subject: 's', text: 't' };
  const one = await last.operations.sendEmail({ caller, params: email, idempotencyKey: 'waiting' });
  const waits = { to: ['95112244', '94112244'], text: 'hi' };
  await last.operations.sendSmsBulk({ caller, params: waits, idempotencyKey: 'waiting batch' });
  await last.store.pauseLane('Skytel');
  for (const key of keys) answers.set(key, await replayOf(last, key));
  const { data: messages } = await last.operations.listMessages(caller, {}, { limit: 100, after: null });
  const { balance } = await last.operations.getBalance(caller);
  await last.close();
  const waiting = [(one.body as { id: string }).id];
  return { answers, balance, messages, waiting, doubtId, verification: { id, code }, at: Date.now() };
}

/** What the service in the database says of everything; and that what waited goes out once. */
async function expectAll({
  answers,
  balance,
  messages,
  waiting,
  doubtId,
  verification,
  at,
}: Filled): Promise<void> {
  const secret = readFileSync(secretFile());
  const age = Date.now() - at;
  const clock = { ...systemClock, now: () => systemClock.now() - age };
  const idle = await cores.open({ database: url, secret, clock }, { carriers: closed });
  for (const [key, answer] of answers) expect([key, await replayOf(idle, key)]).toEqual([key, answer]);
  const listed = await idle.operations.listMessages(caller, {}, { limit: 100, after: null });
  expect(listed.data).toEqual(messages);
  expect((await idle.operations.getBalance(caller)).balance).toBe(balance);
  expect(await ledgerDifference(idle)).toBe(0);
  await idle.close();
  const core = await cores.open({ database: url, secret });
  await core.administration.idle();
  const message = () => core.operations.getMessage(caller, doubtId);
  await vi.waitUntil(async () => (await message()).status !== 'queued', 20_000);
  const references = (await outboxOf(core)).map((one) => one.message_id);
  expect(new Set(references).size).toBe(references.length);
  expect(references).toEqual(expect.arrayContaining(waiting));
  // Nobody has submitted it: it goes out, or fails where it is too late.
  const isSent = references.includes(doubtId);
  expect((await message()).status).toBe(isSent ? 'sent' : 'failed');
  expect((await replayOf(core, 'in doubt'))?.status).toBe(isSent ? 200 : 502);
  const checked = await core.operations.checkVerification(caller, verification.id, {
    code: verification.code,
  });
  expect(checked).toMatchObject({ status: 'verified' });
  const again = await core.operations.sendSms({
    caller,
    params: { to: '99112255', text: 'hi' },
    idempotencyKey: 'new',
  });
  expect(again.status).toBe(200);
  expect(await ledgerDifference(core)).toBe(0);
  await core.close();
  const mismatches = [];
  for await (const one of await verify({ database: url, secret })) mismatches.push(one);
  expect(mismatches).toEqual([]);
}

const isRefused = async (opening: Promise<unknown>, words: RegExp) => {
  const error = await opening.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DataError);
  expect((error as Error).message).toMatch(words);
};
/** What a move that was killed at a mark leaves: the refusals to open the folder and the database. */
interface Kill {
  mark: MoveMark;
  call?: number;
  folder?: RegExp;
  database?: RegExp;
  canBeGivenUp?: true;
  /** Plays in every `npm test`; the others in `npm run test:all`. */
  always?: true;
}
const [moving, moved, filling] = [/is being moved/, /was moved/, /is being filled/];
const kills: Kill[] = [
  { mark: 'secret' },
  { mark: 'folder', folder: moving, canBeGivenUp: true },
  { mark: 'database', folder: moving, database: filling, canBeGivenUp: true },
  { mark: 'rows', call: 6, folder: moving, database: filling, canBeGivenUp: true, always: true },
  { mark: 'copied', folder: moving, database: filling, canBeGivenUp: true },
  { mark: 'verified', folder: moving, database: filling, canBeGivenUp: true },
  { mark: 'moved', folder: moved, database: filling, canBeGivenUp: true, always: true },
  { mark: 'opened', folder: moved, always: true },
  { mark: 'ended', folder: moved },
];
const isPlayed = ({ always }: Kill) => isTestAll || always;
const openFolder = () => cores.open({ directory });
const openDatabase = () => cores.open({ database: url, secret: readFileSync(join(directory, 'secret')) });

describe('a move', () => {
  it('brings everything: every old key is answered as before, and nothing goes out twice', async () => {
    const filled = await fill();
    const moved = await move();
    expect(moved.isNew).toBe(true);
    expect(moved.rows).toBeGreaterThan(20);
    expect(statSync(secretFile()).mode & 0o777).toBe(0o600);
    expect(readFileSync(secretFile())).toEqual(readFileSync(join(directory, 'secret')));
    await isRefused(openFolder(), /was moved to postgres:\/\/db\/urtuu/);
    await expectAll(filled);
    expect(await move()).toMatchObject({ isNew: false });
  });

  it('writes the secret to another file when it is asked again, and the folder names it', async () => {
    await fill();
    await move();
    const other = join(root, "the other's secret");
    await moveData({ ...options(), secretFile: other });
    expect(readFileSync(other)).toEqual(readFileSync(secretFile()));
    await expect(openFolder()).rejects.toMatchObject({
      hint: expect.stringContaining(`URTUU_SECRET_FILE to ${other},`),
    });
    writeFileSync(secretFile(), new Uint8Array(32));
    await isRefused(move(), /is there already, and is not the secret/);
    const none = join(root, 'none', 'secret');
    await isRefused(moveData({ ...options(), secretFile: none }), /secret cannot be written: ENOENT/);
  });

  it('keeps a hold', async () => {
    await fill(true);
    await move();
    const core = await openDatabase();
    expect(await core.store.held()).toBe('restored');
    expect((await core.store.countUnfinished()).messages).toBe(4);
  });

  it('plays every mark at which it can be killed', () => {
    expect(kills.map(({ mark }) => mark)).toEqual(moveMarks);
  });

  it.each(kills.filter(isPlayed))(
    'starts over after it was killed at $mark, and nobody has two owners meanwhile',
    async ({ mark, call, folder, database }) => {
      const filled = await fill();
      await killedAt(mark, call);
      if (folder) await isRefused(openFolder(), folder);
      if (database) await isRefused(openDatabase(), database);
      await move();
      await isRefused(openFolder(), /was moved/);
      await expectAll(filled);
    },
  );

  it.each(kills.filter(({ canBeGivenUp }) => canBeGivenUp).filter(isPlayed))(
    'can be given up at $mark: the database is emptied, and the folder serves again',
    async ({ mark, call }) => {
      const filled = await fill();
      await killedAt(mark, call);
      end();
      expect(await abandonMove(options())).toBe(true);
      expect(await query(url, 'SELECT 1 FROM messages UNION ALL SELECT 1 FROM installation')).toEqual([]);
      const core = await openFolder();
      for (const [key, answer] of filled.answers) {
        expect([key, await replayOf(core, key)]).toEqual([key, answer]);
      }
      await core.close();
      await move();
      const moved = await openDatabase();
      expect(await replayOf(moved, 'single')).toEqual(filled.answers.get('single'));
    },
  );

  it('is given up with its own database alone', async () => {
    await fill();
    await killedAt('rows', 6);
    end();
    const other = { url: await newDatabase(), database: 'postgres://db/other' };
    await isRefused(abandonMove({ ...options(), ...other }), /is being moved to postgres:\/\/db\/urtuu/);
    await move();
  });

  it('cannot be given up from a copy of the folder once the database has opened, or with a database that is not empty', async () => {
    const filled = await fill();
    await killedAt('copied');
    const copy = copyOf(directory);
    await move();
    await isRefused(abandonMove({ ...options(), directory: copy() }), /is served with this data already/);
    await isRefused(cores.open({ directory: copy() }), /is being moved/);
    const foreign = await newDatabase();
    await (await cores.open({ database: foreign, secret: new Uint8Array(32) })).close();
    const another = () => abandonMove({ ...options(), url: foreign, directory: copy() });
    await isRefused(another(), /holds the data of another installation/);
    await query(foreign, 'DELETE FROM installation');
    await isRefused(another(), /is not empty/);
    await expectAll(filled);
  });

  it('cannot be given up once the database has opened, nor if it was lost just before', async () => {
    await fill();
    await killedAt('moved');
    const lost = { ...options(), url: await newDatabase() };
    const copy = copyOf(directory);
    await isRefused(abandonMove({ ...lost, directory: copy() }), /was moved/);
    await isRefused(moveData({ ...lost, directory: copy() }), /was moved/);
    await killedAt('opened');
    end();
    await isRefused(abandonMove(options()), /was moved/);
    await isRefused(abandonMove({ ...options(), directory: copy() }), /was moved/);
    await move();
    end();
    await isRefused(abandonMove(options()), /was moved/);
  });

  it('has nothing left to do that takes its time once the folder is marked as moved', async () => {
    await fill();
    await killedAt('moved');
    const [{ count, next } = {}] = await query<{ count: number; next: boolean }>(
      url,
      `SELECT reltuples::int AS count, nextval(pg_get_serial_sequence('messages', 'seq')) > (SELECT max(seq) FROM messages) AS next
       FROM pg_class WHERE oid = 'messages'::regclass`,
    );
    expect({ isAnalyzed: (count ?? 0) > 5, next }).toEqual({ isAnalyzed: true, next: true });
  });

  it('moves a table in several pages, and starts over, in an empty database, after it was killed in the middle of one', async () => {
    const core = await cores.open({ directory }, { carriers: closed });
    const to = Array.from({ length: 1_000 }, (_, index) => String(99_200_000 + index));
    for (let batch = 0; batch < 5; batch += 1) {
      const params = { to, text: `hi ${batch}` };
      await core.operations.sendSmsBulk({ caller, params, idempotencyKey: `batch ${batch}` });
    }
    await core.close();
    let full = 0;
    const onProgress = (_step: string, rows: number) => {
      if (rows === 2_000 && ++full === 2) throw new Killed('rows');
    };
    await expect(move({ onProgress })).rejects.toThrow(Killed);
    expect(await query(url, 'SELECT count(*)::int AS count FROM messages')).toEqual([{ count: 4_000 }]);
    expect((await move()).rows).toBeGreaterThan(10_000);
    const moved = await cores.open(
      { database: url, secret: readFileSync(secretFile()) },
      { carriers: closed },
    );
    expect(await moved.store.countUnfinished()).toEqual({ messages: 5_000, submitting: 0 });
    expect(await ledgerDifference(moved)).toBe(0);
  });

  it('has little in memory at a time, however large the rows are', async () => {
    const core = await cores.open({ directory }, { carriers: closed });
    for (let count = 0; count < 20; count += 1) {
      const params = { to: `bat${count}@example.mn`, subject: 's', html: `${count}-`.padEnd(260_000, 'x') };
      await core.operations.sendEmail({ caller, params, idempotencyKey: null });
    }
    await core.close();
    const sizes: number[] = [];
    const ask = Client.prototype.query;
    const spy = vi.spyOn(Client.prototype, 'query').mockImplementation(async function (
      this: Client,
      ...given: unknown[]
    ) {
      const answer = await (ask as (...args: unknown[]) => Promise<{ rows: unknown[] }>).apply(this, given);
      sizes.push(JSON.stringify([given, answer.rows]).length);
      return answer;
    } as never);
    await move();
    spy.mockRestore();
    expect(Math.max(...sizes)).toBeGreaterThan(1_000_000);
    expect(Math.max(...sizes)).toBeLessThan(1_400_000);
    const source = await openSource(directory);
    const contents = movedTables.find(({ to }) => to === 'contents') as MovedTable;
    expect([...source.pages(contents)].map((page) => page.length)).toEqual([4, 4, 4, 4, 4]);
    source.close();
  });

  it('moves what an earlier release has written, and keeps a copy of it', async () => {
    execFileSync('tar', [
      'xzf',
      join(import.meta.dirname, '../../fixtures/c7d7ad4/state.tar.gz'),
      '-C',
      root,
    ]);
    const [found] = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('service.db'),
    );
    cpSync(join(root, found as string, '..'), directory, { recursive: true });
    await move();
    const kept = readdirSync(directory).filter((name) => /^(service|operator)\.db\.schema-\d+$/.test(name));
    expect(kept).toHaveLength(2);
    const core = await openDatabase();
    expect(await ledgerDifference(core)).toBe(0);
    expect((await core.operations.listMessages(caller, {}, { limit: 1, after: null })).data).toHaveLength(1);
  });
});

describe('a database', () => {
  it('that falls silent ends the move, which then starts over', async () => {
    const filled = await fill();
    (await openTarget({ url })).close();
    const other = new Client(connectionTo(url));
    await other.connect();
    await other.query('BEGIN; LOCK TABLE messages');
    await expect(move({ patience: 300 })).rejects.toThrow(DatabaseFailure);
    await other.end();
    await move();
    await expectAll(filled);
  });
  it('that admits nobody when it is verified ends the move, which then starts over', async () => {
    const filled = await fill();
    const name = new URL(url).pathname.slice(1);
    const other = new Client(connectionTo(url.replace(name, 'postgres')));
    await other.connect();
    const admits = (yes: boolean) => other.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS ${yes}`);
    let closed: Promise<unknown> | null = null;
    const at = (mark: MoveMark) => {
      if (mark === 'copied') closed = admits(false);
    };
    await expect(move({ at })).rejects.toThrow(DatabaseFailure);
    await closed;
    await admits(true);
    await other.end();
    await move();
    await expectAll(filled);
  });
});

describe('a move is refused', () => {
  const unmarked = async () => (await openFolder()).close();

  it('while a process has the folder open', async () => {
    const core = await openFolder();
    await expect(moveData(options())).rejects.toThrow(DataInUseError);
    await core.close();
    await unmarked();
    expect(existsSync(secretFile())).toBe(false);
  });

  it('into a database with a foreign table', async () => {
    await fill();
    await query(url, 'CREATE TABLE public.customers (name text)');
    await isRefused(move(), /a table of something else: public\.customers/);
    await query(
      url,
      'DROP TABLE public.customers; CREATE SCHEMA other; CREATE TABLE other.projects (name text)',
    );
    await isRefused(move(), /other\.projects/);
    expect(await query(url, "SELECT 1 FROM pg_tables WHERE schemaname = 'urtuu'")).toEqual([]);
    await unmarked();
  });

  it('into a database of another installation', async () => {
    await fill();
    await (await cores.open({ database: url, secret: new Uint8Array(32) })).close();
    await isRefused(move(), /holds the data of another installation/);
    await query(url, 'DELETE FROM installation');
    await isRefused(move(), /is not empty/);
    await unmarked();
  });

  it('into a database that is filled from another folder, or by another move of this one', async () => {
    await fill();
    await killedAt('copied');
    const other = join(root, 'other');
    await (await cores.open({ directory: `${other} made` })).close();
    cpSync(`${other} made`, other, { recursive: true });
    await isRefused(
      moveData({ ...options(), directory: other }),
      /is being filled from another installation/,
    );
  });

  it('of a copy of the folder, into the database that the folder fills after it began anew, or into another one', async () => {
    await fill();
    await killedAt('folder');
    const copy = copyOf(directory);
    await killedAt('copied');
    await isRefused(
      moveData({ ...options(), directory: copy() }),
      /being filled by another move of this data/,
    );
    await isRefused(abandonMove({ ...options(), directory: copy() }), /filled by another move of this data/);
    const other = { url: await newDatabase(), database: 'postgres://db/other' };
    await isRefused(
      moveData({ ...options(), ...other, directory: copy() }),
      /is being moved to .*db\/urtuu$/,
    );
    await move();
  });

  it('into another database until the first is given up, whose address may have an empty one', async () => {
    const filled = await fill();
    await killedAt('copied');
    const other = { url: await newDatabase(), database: 'postgres://db/other' };
    await isRefused(move(other), /is being moved to postgres:\/\/db\/urtuu$/);
    await isRefused(openFolder(), /is being moved to postgres:\/\/db\/urtuu$/);
    url = await newDatabase();
    end();
    expect(await abandonMove(options())).toBe(true);
    url = other.url;
    await move(other);
    await expectAll(filled);
  });

  it('into a copy of the database that was filled', async () => {
    await fill();
    await killedAt('moved');
    const copy = await backupOfDatabase(url);
    await isRefused(move({ url: copy }), /was moved/);
    await move();
  });

  it.each([
    ['started over', () => move()],
    ['given up', () => abandonMove(options())],
  ])('and stays moved, if the database opens while it is %s', async (_, again) => {
    await fill();
    await killedAt('moved');
    const killed = new Client(connectionTo(url));
    await killed.connect();
    await killed.query('BEGIN; UPDATE urtuu.installation SET filling = NULL');
    end();
    const refused = again().catch((error) => error);
    const waits = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    while ((await query(url, waits)).length === 0);
    await killed.query('COMMIT');
    await killed.end();
    expect((await refused).message).toMatch(/no longer filled by this move/);
    end();
    await isRefused(openFolder(), /was moved to/);
    expect(await move()).toMatchObject({ isNew: false });
  });

  it('into the database that was put back to a time before it opened, which cannot be given up either', async () => {
    await fill();
    let before: Promise<{ filling: string }[]> = Promise.resolve([]);
    const at = (mark: MoveMark) => {
      if (mark === 'copied') before = query(url, 'SELECT filling FROM installation');
    };
    await move({ at });
    await query(url, `UPDATE installation SET filling = '${(await before)[0]?.filling}'`);
    await isRefused(move(), /was put back to a time before the move ended/);
    end();
    await isRefused(abandonMove(options()), /was put back to a time before the move ended/);
    await isRefused(openDatabase(), /is being filled/);
  });

  /** Takes back the steps of the schema after those of moves. */
  const undone =
    'DROP INDEX messages_mailbox; DROP INDEX messages_spelled; ALTER TABLE messages DROP COLUMN mailbox; DROP INDEX verifications_project; ALTER TABLE keys DROP COLUMN created_by; ALTER TABLE receipts DROP COLUMN other; ALTER TABLE receipts DROP COLUMN code; ALTER TABLE lanes DROP COLUMN has_normal_ids; ALTER TABLE contents DROP COLUMN is_bulk; DROP INDEX projects_quiet; DROP INDEX messages_waiting; DROP INDEX messages_overdue; DROP INDEX messages_turns; ALTER TABLE messages DROP COLUMN is_bulk; DROP TRIGGER leases_have_releases; DROP TRIGGER suppressions_are_compared; DROP TRIGGER suppressions_have_reasons; ALTER TABLE dashboard DROP COLUMN public_url; DROP TABLE route_days; DROP INDEX projects_line; ALTER TABLE projects DROP COLUMN line; DROP TRIGGER inbox_leaves_events; DROP TRIGGER suppressions_leave_events; DROP TABLE event_lines; DROP TABLE events';

  it('again, from a mark of an earlier release: it is brought up to date by the database', async () => {
    await fill();
    await move();
    const before = migrations.findIndex((step) => step.includes('ADD COLUMN is_opened'));
    const store = await openStoreDatabase(join(directory, 'service.db'));
    store.exec(
      `ALTER TABLE moves DROP COLUMN is_opened; ${undone}; PRAGMA user_version = ${before}; PRAGMA journal_mode = DELETE`,
    );
    store.close();
    await isRefused(openFolder(), /was moved to/);
    expect(await move()).toMatchObject({ isNew: false });
    const { DatabaseSync } = await loadEngine();
    const database = new DatabaseSync(join(directory, 'service.db'));
    expect(database.prepare('SELECT is_done, is_opened FROM moves').get()).toEqual({
      is_done: 1,
      is_opened: 1,
    });
    database.close();
  });

  it('with a file of another secret', async () => {
    await fill();
    writeFileSync(secretFile(), new Uint8Array(32));
    await isRefused(move(), /is there already, and is not the secret/);
    await unmarked();
  });

  it('beside another one', async () => {
    await fill();
    let second: Promise<unknown> = Promise.resolve();
    const at = (mark: MoveMark) => {
      if (mark === 'copied') second = moveData(options()).catch((error) => error);
    };
    await move({ at });
    expect(await second).toBeInstanceOf(DataInUseError);
  });

  it('of a copy of the folder, once the other has opened the database: it writes nothing any more', async () => {
    await fill();
    await killedAt('database');
    const copy = join(root, 'copy');
    cpSync(directory, copy, { recursive: true });
    const target = await openTarget({ url });
    await move();
    const name = await targetOf(copy);
    const copyOfIt = copyOf(copy);
    await isRefused(moveData({ ...options(), directory: copyOfIt() }), /is served with this data already/);
    const [table] = movedTables.filter(({ to }) => to === 'lanes');
    await isRefused(target.add(name, table as never, [['late']]), /no longer filled by this move/);
    await isRefused(target.open(name, null), /no longer filled by this move/);
    expect(await target.abandon(name, () => {})).toBe(false);
    target.close();
    expect(await query(url, "SELECT 1 FROM lanes WHERE name = 'late'")).toEqual([]);
  });
});

describe('a folder that is moved', () => {
  it('is not opened by accepting its data, nor is the database by another start', async () => {
    await fill();
    await killedAt('verified');
    await isRefused(cores.open({ directory, acceptData: true }), /is being moved/);
    await isRefused(openAdministration({ directory }), /is being moved/);
    await isRefused(openDatabase(), /is being filled from installation/);
    expect(await query(url, 'SELECT 1 FROM hold')).toEqual([]);
  });

  it.each([
    ['verified', /is being moved to postgres:\/\/db\/urtuu$/],
    ['ended', /was moved to postgres:\/\/db\/urtuu$/],
  ] as const)('is neither backed up nor replaced by a backup from before: %s', async (mark, words) => {
    await fill();
    await backup(directory, join(root, 'before'));
    await killedAt(mark);
    end();
    await isRefused(backup(directory, join(root, 'backup')), words);
    expect(existsSync(join(root, 'backup'))).toBe(false);
    await isRefused(restore(directory, join(root, 'restored')), words);
    expect(existsSync(join(root, 'restored/service.db'))).toBe(false);
    const copy = copyOf(directory);
    await isRefused(checkFree(copy()), words);
    await isRefused(restore(join(root, 'before'), copy()), words);
    await isRefused(openFolder(), words);
    await restore(join(root, 'before'), join(root, 'another'));
    const core = await cores.open({ directory: join(root, 'another') });
    expect(await core.store.held()).toBe('restored');
  });
});

describe('the mapping', () => {
  const words = (text: string) => new Set(text.match(/\w+/g));

  it('names every table and column of the folder', async () => {
    const files = {
      store: await openStoreDatabase(':memory:'),
      carrier: await openOutboxDatabase(':memory:'),
    };
    const missing: string[] = [];
    for (const file of ['store', 'carrier'] as const) {
      const rows = files[file]
        .prepare(
          `SELECT t.name AS name, c.name AS "column" FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'`,
        )
        .all() as { name: string; column: string }[];
      for (const { name, column } of rows) {
        const used = movedTables
          .filter((one) => one.file === file && one.from === name)
          .flatMap((one) => [...Object.values(one.columns), one.where ?? '']);
        const names = [`${file}.${name}`, `${file}.${name}.${column}`];
        if (!words(used.join(' ')).has(column) && !names.some((one) => one in unmoved))
          missing.push(`${names[1]}`);
      }
      files[file].close();
    }
    expect(missing).toEqual([]);
  });

  it('names every table and column of the database', async () => {
    (await openTarget({ url })).close();
    const rows = await query<{ name: string; column: string }>(
      url,
      `SELECT table_name AS name, column_name AS "column" FROM information_schema.columns WHERE table_schema = 'urtuu'`,
    );
    const missing = rows.filter(({ name, column }) => {
      const table = movedTables.find(({ to }) => to === name);
      return !(column in (table?.columns ?? {})) && !(name in unfilled) && !(`${name}.${column}` in unfilled);
    });
    expect(missing).toEqual([]);
    expect(rows.length).toBeGreaterThan(100);
  });
});

async function targetOf(folder: string): Promise<string> {
  const { DatabaseSync } = await loadEngine();
  const database = new DatabaseSync(join(folder, 'service.db'));
  const { target } = database.prepare('SELECT target FROM moves').get() as { target: string };
  database.close();
  return target;
}
