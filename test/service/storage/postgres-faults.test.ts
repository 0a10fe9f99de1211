import { once } from 'node:events';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Clock, systemClock } from '../../../src/service/clock.js';
import { openCore } from '../../../src/service/core.js';
import { Connections } from '../../../src/service/storage/postgres/database/connections.js';
import type { StatementError } from '../../../src/service/storage/postgres/database/failure.js';
import {
  openPostgresStorage,
  type PostgresStorage,
} from '../../../src/service/storage/postgres/postgres-storage.js';
import { migrations } from '../../../src/service/storage/postgres/schema/migrations.js';
import { caller, ticks } from '../../support/cores.js';
import { ownCluster } from '../../support/postgres/own-cluster.js';
import { type PostgresProxy, startProxy } from '../../support/postgres/proxy.js';
import { connectionTo, copyOfDatabase, newDatabase, query } from '../../support/postgres.js';
import { answerOf, batch, claimOf, message, project, sent } from './conformance/fixture.js';

const secret = new Uint8Array(32).fill(7);
const rich = { ...project, balance: 100_000 };
let template: string;

/** A copy that is not held as one that was restored. */
async function ownDatabase(): Promise<string> {
  const url = await copyOfDatabase(template);
  await query(url, 'SELECT set_hold_1(NULL)');
  return url;
}

beforeAll(async () => {
  template = await newDatabase();
  await (await open(template)).close();
});

async function open(url: string, given: { now?: () => number } = {}): Promise<PostgresStorage> {
  return openPostgresStorage({ url, secret, clock: systemClock, report() {}, ...given });
}

/** With a project that has credits. */
async function opened(url: string): Promise<PostgresStorage> {
  const storage = await open(url);
  onTestFinished(() => storage.close());
  await storage.store.createProject(rich);
  return storage;
}

async function proxyOf(url: string): Promise<PostgresProxy> {
  const proxy = await startProxy(url);
  onTestFinished(() => proxy.close());
  return proxy;
}

const unavailable = { status: 503, code: 'unavailable' };
const isUnavailable = (error: unknown) => {
  expect(error).toMatchObject(unavailable);
  return null;
};

/** Every balance is the sum of its entries, and every charge has its message. */
async function expectBooksToAgree(url: string): Promise<void> {
  const [books] = await query(
    url,
    `SELECT (SELECT balance FROM projects WHERE id = '${project.id}')::int AS balance,
       (SELECT sum(amount) FROM ledger)::int AS ledger,
       (SELECT count(*) FROM messages)::int AS messages, (SELECT count(DISTINCT subject_id) FROM ledger)::int AS charged`,
  );
  const { balance, ledger, messages, charged } = books as Record<string, number>;
  expect(balance).toBe(ledger);
  expect(messages).toBe(charged);
  expect(balance).toBe(rich.balance - 10 * (messages ?? 0));
}

const later = { timeout: 15_000, interval: 50 };

describe('a commit whose answer is lost', () => {
  it.each(['before', 'after'] as const)('%s it was made, is made once, by the same call', async (when) => {
    const url = await ownDatabase();
    const proxy = await proxyOf(url);
    const { store } = await opened(proxy.url);
    proxy.cutAt('accept_1', when);
    const accepted = await store.acceptMessage(message({ claim: claimOf('a'), idempotencyKey: 'k' }));
    expect(accepted).toMatchObject({ kind: 'accepted', balance: rich.balance - 10 });
    await expectBooksToAgree(url);
    expect(await store.findAnswer(project.id, 'k')).toBeNull();
    const claimed = accepted.kind === 'accepted' ? accepted.claimed : [];
    if (when === 'before') {
      expect(
        await store.finalizeMessages([{ claimed: claimed[0] as never, outcome: sent }], answerOf),
      ).toMatchObject([{ message: { status: 'sent' } }]);
      return;
    }
    // Its mark counts as lost: nothing is submitted from it, and the message is due again.
    expect(claimed).toEqual([]);
    await vi.waitUntil(async () => (await store.nextWork(['sms'])).messages !== null, later);
    const again = { token: 'b', leaseMs: 30_000, limit: 10, lane: 'sms', class: 'single' } as const;
    expect(await store.claimMessages(again)).toMatchObject([{ attempts: 1, mark: null, pendingKey: 'k' }]);
  });

  it('of a batch is made once, and its messages are due again', async () => {
    const url = await ownDatabase();
    const proxy = await proxyOf(url);
    const { store } = await opened(proxy.url);
    proxy.cutAt('accept_batch_1', 'after');
    const accepted = await store.acceptBatch(
      batch(['1', '2', '3'], { claim: claimOf('a'), idempotencyKey: 'k' }),
    );
    expect(accepted).toMatchObject({ kind: 'accepted', balance: rich.balance - 30, claimed: [] });
    expect(await store.findAnswer(project.id, 'k')).toEqual({ status: 202, body: '{"balance":99970}' });
    await vi.waitUntil(async () => (await store.nextWork(['sms'])).messages !== null, later);
    const again = { token: 'b', leaseMs: 30_000, limit: 10, lane: 'sms', class: 'batch' } as const;
    expect(await store.claimMessages(again)).toHaveLength(3);
  });

  it('gives the first caller what is stored, byte for byte', async () => {
    const proxy = await proxyOf(await ownDatabase());
    const { store } = await opened(proxy.url);
    proxy.cutAt('accept_1', 'after');
    const answer = (record: { createdAt: number }, balance: number) => ({
      status: 202,
      body: JSON.stringify({ created_at: new Date(record.createdAt).toISOString(), balance }),
    });
    const first = store.acceptMessage(message({ idempotencyKey: 'k', answer }));
    await first;
    await store.acceptMessage(message({ to: '2' }));
    const result = await first;
    if (result.kind !== 'accepted') throw new Error(result.kind);
    expect(await store.findAnswer(project.id, 'k')).toEqual(answer(result.message, result.balance));
  });

  it('of the end of a message is repeated, and fenced by itself', async () => {
    const proxy = await proxyOf(await ownDatabase());
    const { store } = await opened(proxy.url);
    const accepted = await store.acceptMessage(message({ claim: claimOf('a') }));
    const claimed = accepted.kind === 'accepted' ? accepted.claimed : [];
    const finalize = () =>
      store.finalizeMessages(
        claimed.map((one) => ({ claimed: one, outcome: sent })),
        answerOf,
      );
    proxy.cutAt('finalize_2', 'after');
    await expect(finalize()).rejects.toMatchObject(unavailable);
    expect(await finalize()).toEqual([null]);
    expect(await store.getMessage(project.id, claimed[0]?.message.id ?? '')).toMatchObject({
      status: 'sent',
    });
  });
});

const terminateOthers =
  'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()';

describe('connections that are cut again and again', () => {
  it('lose no message, take no credit twice, and leave nothing marked', async () => {
    const url = await ownDatabase();
    const proxy = await proxyOf(url);
    const { store } = await opened(proxy.url);
    const results: string[] = [];
    const terminations: Promise<unknown>[] = [];
    let accepted = 0;
    const sends = Array.from({ length: 300 }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * 5));
      const accept = (attempt: number) =>
        store
          .acceptMessage(message({ to: `${index}`, claim: claimOf(`t${index} ${attempt}`) }))
          .catch(isUnavailable);
      // On a busy machine many wait in vain for a connection, and come again.
      let result = await accept(0);
      for (let attempt = 1; result === null && attempt < 100; attempt += 1) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        result = await accept(attempt);
      }
      results.push(result?.kind ?? 'unavailable');
      // By what was done and not by time, which is short on a busy machine.
      if (result !== null) accepted += 1;
      if (result !== null && accepted % 12 === 0) proxy.cutAll();
      if (result !== null && accepted % 20 === 0)
        terminations.push(query(url, terminateOthers).catch(() => {}));
      const claimed = result?.kind === 'accepted' ? result.claimed : [];
      const ends = claimed.map((each) => ({ claimed: each, outcome: sent }));
      for (let tries = 0; tries < 50 && ends.length > 0; tries += 1) {
        if ((await store.finalizeMessages(ends, answerOf).catch(isUnavailable)) !== null) break;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    });
    await Promise.all(sends);
    await Promise.all(terminations);
    expect(results.filter((kind) => kind === 'accepted').length).toBeGreaterThan(200);
    await expectBooksToAgree(url);
    const marked =
      "SELECT count(*)::int AS count FROM messages WHERE status = 'queued' AND route IS NOT NULL";
    await vi.waitUntil(async () => (await query(url, marked))[0]?.count === 0, later);
  });
});

describe('a server', () => {
  it('that is away is told of within a second, and is used again when it is back', async () => {
    const { cluster, url } = await ownCluster();
    const { store, admit } = await opened(url);
    await store.acceptMessage(message());
    await cluster.stop('immediate');
    const request = {
      caller: { projectId: project.id, keyId: 'k' },
      kind: 'sending',
      bucket: null,
      idempotencyKey: null,
    };
    for (const call of [
      () => store.getProject(project.id),
      () => admit(request),
      () => store.acceptMessage(message()),
      () => store.nextWork(['sms']),
    ]) {
      const before = performance.now();
      await expect(call()).rejects.toMatchObject(unavailable);
      expect(performance.now() - before).toBeLessThan(1_000);
    }
    await cluster.start();
    await vi.waitUntil(() => store.acceptMessage(message()).catch(() => null), later);
    expect(await admit(request)).toMatchObject({ projectId: project.id });
    await expectBooksToAgree(url);
  });

  it('that ends many connections at once is tried again as soon as after one', async () => {
    const open = new Set<Socket>();
    let tries = 0;
    const server = createServer((socket) => {
      tries += 1;
      open.add(socket.on('error', () => {}));
      if (open.size < 8) return;
      for (const one of open) one.destroy();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { port } = server.address() as AddressInfo;
    const ended: unknown[] = [];
    const connections = new Connections({
      url: `postgres://postgres@127.0.0.1:${port}/none`,
      size: 8,
      report: (error) => void ended.push(error),
    });
    onTestFinished(() => connections.close());
    const ask = () => connections.query('SELECT 1', []).catch(({ failure }: StatementError) => failure);
    expect(new Set(await Promise.all(Array.from({ length: 8 }, ask)))).toEqual(new Set(['not_sent']));
    // The other seven end on their own.
    await ticks();
    expect(await ask()).toBe('not_sent');
    expect(tries).toBe(8);
    vi.advanceTimersByTime(100);
    expect(await ask()).toBe('not_sent');
    expect(tries).toBe(9);
    expect(ended).toHaveLength(1);
  });

  it('that restarts at once in the middle of sends loses none that was accepted', async () => {
    const { cluster, url } = await ownCluster();
    const { store } = await opened(url);
    const ids: string[] = [];
    let isOver = false;
    const senders = Array.from({ length: 8 }, async (_, sender) => {
      for (let index = 0; !isOver; index += 1) {
        const result = await store.acceptMessage(message({ to: `${sender}-${index}` })).catch(isUnavailable);
        if (result?.kind === 'accepted') ids.push(result.message.id);
        else await new Promise((resolve) => setTimeout(resolve, 20));
      }
    });
    for (let restarts = 0; restarts < 2; restarts += 1) {
      const before = ids.length;
      await vi.waitUntil(() => ids.length > before + 50, later);
      await cluster.stop('immediate');
      await cluster.start();
    }
    const before = ids.length;
    await vi.waitUntil(() => ids.length > before + 50, later);
    isOver = true;
    await Promise.all(senders);
    const found = await query(url, 'SELECT count(*)::int AS count FROM messages WHERE id = ANY ($1)', [ids]);
    expect(found[0]?.count).toBe(ids.length);
    await expectBooksToAgree(url);
  });

  it('that is a standby takes no writes, and is used again when it was promoted', async () => {
    const { cluster, folder, url } = await ownCluster();
    const { store } = await opened(url);
    await cluster.stop('fast');
    writeFileSync(join(folder, 'data/standby.signal'), '');
    await cluster.start();
    await expect(store.acceptMessage(message())).rejects.toMatchObject(unavailable);
    await expect(open(url)).rejects.toThrow('the database is a standby');
    await query(url, 'SELECT pg_promote()');
    await vi.waitUntil(() => store.acceptMessage(message()).catch(() => null), later);
    await expectBooksToAgree(url);
  });

  it('whose commits wait for a standby that is not there is told of when they take too long, and nothing is lost', async () => {
    const { url } = await ownCluster();
    const { store, check } = await opened(url);
    await check();
    await query(url, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    await query(url, 'SELECT pg_reload_conf()');
    const synchronous = "SELECT current_setting('synchronous_standby_names') AS names";
    await vi.waitUntil(async () => (await query(url, synchronous))[0]?.names === 'nobody', later);
    // Commits wait once the checkpointer has read it, which it does first.
    await query(url, 'CHECKPOINT');
    const one = message({ idempotencyKey: 'k', claim: claimOf('a') });
    const before = performance.now();
    await Promise.all([
      expect(store.acceptMessage(one)).rejects.toMatchObject(unavailable),
      expect(check()).rejects.toMatchObject(unavailable),
    ]);
    expect(performance.now() - before).toBeLessThan(10_000);
    // It waits for the one before, and leaves no commit of its own behind.
    await expect(check()).rejects.toMatchObject(unavailable);
    await query(url, 'ALTER SYSTEM RESET synchronous_standby_names');
    await query(url, 'SELECT pg_reload_conf()');
    // It was committed here all the same: the key says so, and its message is due again.
    const again = message({ idempotencyKey: 'k', claim: claimOf('b') });
    await vi.waitUntil(() => store.acceptMessage(again).catch(() => null), later);
    expect(await store.acceptMessage(again)).toMatchObject({ kind: 'repeat' });
    await vi.waitUntil(async () => (await store.nextWork(['sms'])).messages !== null, later);
    await check();
    await expectBooksToAgree(url);
  }, 40_000);

  it('that is away for a minute loses nothing of what was under way, and sends nothing twice', async () => {
    const { cluster, url } = await ownCluster();
    // A minute in two seconds.
    const speed = 30;
    const clock: Clock = {
      now: () => Math.floor(systemClock.now() + (speed - 1) * systemClock.monotonic()),
      monotonic: () => speed * systemClock.monotonic(),
      after: (milliseconds, run) => systemClock.after(milliseconds / speed, run),
    };
    const core = await openCore({ database: url, secret, clock, rates: 'off', report() {} });
    onTestFinished(() => core.close());
    const to = Array.from({ length: 1_500 }, (_, index) => `${88_000_000 + index}`);
    const sendBulk = (first: number) =>
      core.operations.sendSmsBulk({
        caller,
        params: { to: to.slice(first, first + 500), text: 'Hello' },
        idempotencyKey: `from ${first}`,
      });
    await Promise.all([0, 500, 1_000].map(sendBulk));
    await cluster.stop('immediate');
    await new Promise((resolve) => setTimeout(resolve, 60_000 / speed));
    await cluster.start();
    const settled = () => core.administration.idle().then(() => true);
    await vi.waitUntil(() => settled().catch(() => null), later);
    const sent = await query(url, "SELECT recipient FROM messages WHERE status = 'sent' ORDER BY recipient");
    expect(sent.map(({ recipient }) => recipient)).toEqual(to);
    const delivered = await query(url, 'SELECT recipient FROM deliveries ORDER BY recipient');
    expect(delivered).toEqual(sent);
  }, 40_000);

  it('whose disk is full answers reads and refuses sends, and loses nothing of what was under way', async () => {
    const url = await ownDatabase();
    let goOn = () => {};
    const gate = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const reports: unknown[] = [];
    const core = await openCore(
      {
        database: url,
        secret,
        clock: systemClock,
        rates: 'off',
        report: (error) => void reports.push(error),
      },
      { carrier: (real) => ({ ...real, submit: (...given) => gate.then(() => real.submit(...given)) }) },
    );
    onTestFinished(() => core.close());
    const send = (idempotencyKey: string) =>
      core.operations.sendSms({ caller, params: { to: '99112233', text: 'Hi' }, idempotencyKey });
    const underWay = send('under way');
    await vi.waitUntil(async () => (await query(url, 'SELECT 1 FROM messages')).length === 1, later);
    await query(
      url,
      `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'could not extend file: No space left on device';
       END $$;
       CREATE TRIGGER no_room BEFORE INSERT OR UPDATE ON messages EXECUTE FUNCTION no_room();`,
    );
    goOn();
    await expect(send('refused')).rejects.toMatchObject(unavailable);
    await vi.waitUntil(() => reports.length > 1, later);
    expect(await core.operations.getBalance(caller)).toEqual({ balance: 99_990 });
    await query(url, 'DROP TRIGGER no_room ON messages');
    expect(await underWay).toMatchObject({ status: 200, body: { status: 'sent' } });
    expect(await send('refused')).toMatchObject({ status: 200, replayed: false });
    expect(await query(url, 'SELECT status FROM messages')).toEqual([{ status: 'sent' }, { status: 'sent' }]);
    expect(await query(url, 'SELECT recipient FROM deliveries')).toHaveLength(2);
    expect(await core.operations.getBalance(caller)).toEqual({ balance: 99_980 });
  });

  it('that refuses the password says so', async () => {
    const { cluster, folder, url } = await ownCluster();
    await query(url, "CREATE ROLE locked LOGIN PASSWORD 'right'");
    const path = join(folder, 'data/pg_hba.conf');
    const before = readFileSync(path, 'utf8');
    writeFileSync(path, 'host all locked 127.0.0.1/32 scram-sha-256\n');
    appendFileSync(path, before);
    await query(url, 'SELECT pg_reload_conf()');
    const locked = url.replace('postgres@', 'locked:wrong@');
    await vi.waitFor(() => expect(open(locked)).rejects.toMatchObject({ code: '28P01' }), later);
    expect(cluster.url).not.toContain('wrong');
  });

  it('whose connections are all taken is told of within two seconds', async () => {
    const url = await ownDatabase();
    const { store } = await opened(url);
    const { Client } = await import('pg');
    const holder = new Client(connectionTo(url));
    await holder.connect();
    onTestFinished(() => holder.end());
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE messages, batches IN ACCESS EXCLUSIVE MODE');
    const timed = async (call: () => Promise<unknown>) => {
      const before = performance.now();
      const isRefused = (await call().catch(isUnavailable)) === null;
      return { isRefused, took: performance.now() - before };
    };
    // Each takes a connection, or one for all that come while two of their kind wait.
    const reads = Array.from({ length: 12 }, () => timed(() => store.getBatch(project.id, 'none')));
    const grouped: typeof reads = [];
    for (let tick = 0; tick < 4; tick += 1) {
      grouped.push(timed(() => store.getMessage(project.id, 'none')));
      await new Promise(setImmediate);
    }
    for (const last of [...reads.slice(-4), ...grouped.slice(-2)]) {
      const { isRefused, took } = await last;
      expect(isRefused).toBe(true);
      expect(took).toBeLessThan(2_000);
    }
    await holder.query('COMMIT');
    await Promise.all([...reads, ...grouped]);
    expect(await store.getMessage(project.id, 'none')).toBeNull();
  });
});

describe('a database', () => {
  it('of a newer version is refused', async () => {
    const url = await ownDatabase();
    await query(url, 'UPDATE urtuu_schema SET version = 99');
    await expect(open(url)).rejects.toThrow('written by a newer version of urtuu');
  });

  it('is made by one of many that start together', async () => {
    const url = await newDatabase();
    const storages = await Promise.all(Array.from({ length: 5 }, () => open(url)));
    expect(await query(url, 'SELECT version FROM urtuu_schema')).toEqual([
      { version: migrations.steps.length },
    ]);
    await Promise.all(storages.map((storage) => storage.close()));
  });

  it('whose role has another isolation is refused', async () => {
    const { url } = await ownCluster();
    await (await open(url)).close();
    await query(url, "ALTER ROLE postgres SET default_transaction_isolation = 'serializable'");
    await expect(open(url)).rejects.toThrow("default_transaction_isolation of the role is 'serializable'");
  });

  it('tells the time, whatever the clocks of the instances show', async () => {
    const url = await ownDatabase();
    const storages = await Promise.all(
      [0, 3_600_000].map((ahead) =>
        openPostgresStorage({
          url,
          secret,
          clock: { ...systemClock, now: () => Date.now() + ahead },
          report() {},
        }),
      ),
    );
    const [one, two] = storages.map(({ store }) => store);
    await one?.createProject(rich);
    const capped = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        (index % 2 ? one : two)?.acceptMessage(message({ caps: [5, 20] })),
      ),
    );
    expect(capped.filter((result) => result?.kind === 'accepted')).toHaveLength(5);
    await Promise.all(storages.map((storage) => storage.close()));
  });
});

describe('a group', () => {
  it('with one item that the database cannot store fails that one alone', async () => {
    const url = await ownDatabase();
    const { store } = await opened(url);
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        store.acceptMessage(message({ to: index === 7 ? 'a\0b' : `${index}` })),
      ),
    );
    expect(results.map(({ status }) => status).filter((status) => status === 'rejected')).toHaveLength(1);
    expect(results[7]?.status).toBe('rejected');
    await expectBooksToAgree(url);
  });
});

describe('statements', () => {
  it('can go through a pooler: unnamed, without settings that stay on the connection', async () => {
    const proxy = await proxyOf(await newDatabase());
    const { store, admit } = await opened(proxy.url);
    await admit({
      caller: { projectId: project.id, keyId: 'k' },
      kind: 'sending',
      bucket: null,
      idempotencyKey: null,
    });
    await store.acceptMessage(message());
    await store.acceptBatch(batch(['1', '2']));
    // Another connection may have just been opened, and said nothing yet.
    const all = proxy.sent.map((chunks) => Buffer.concat(chunks)).filter(({ length }) => length > 0);
    expect(all.length).toBeGreaterThan(1);
    for (const bytes of all) {
      const startup = bytes.subarray(8, bytes.readInt32BE(0)).toString().split('\0');
      expect(
        startup
          .filter((_, index) => index % 2 === 0)
          .filter(Boolean)
          .sort(),
      ).toEqual(['application_name', 'client_encoding', 'database', 'user']);
      for (const { type, body } of messagesOf(bytes)) {
        if (type === 'P') expect(body[0]).toBe(0);
        if (type === 'Q') expect(body.toString()).not.toMatch(/^\s*(?:SET (?!LOCAL)|PREPARE|CREATE TEMP)/i);
      }
    }
  });
});

/** The protocol's messages after the first. */
function* messagesOf(bytes: Buffer): Generator<{ type: string; body: Buffer }> {
  let at = bytes.readInt32BE(0);
  while (at < bytes.length) {
    const length = bytes.readInt32BE(at + 1);
    yield { type: String.fromCharCode(bytes[at] as number), body: bytes.subarray(at + 5, at + 1 + length) };
    at += 1 + length;
  }
}
