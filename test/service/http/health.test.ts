import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Carrier } from '../../../src/service/carriers/carrier.js';
import { ManualClock } from '../../../src/service/clock.js';
import { createService } from '../../../src/service/create-service.js';
import { readinessOf } from '../../../src/service/readiness.js';
import { Cores } from '../../support/cores.js';
import { newRole } from '../../support/postgres/role.js';
import { newDatabase, query } from '../../support/postgres.js';
import { testSecret } from '../../support/test-engine.js';
import { fakeOperations, openApp, request } from './fake-operations.js';

const cores = new Cores();
afterEach(() => cores.closeAll());
const withoutKey = { headers: { authorization: null } };
const start = Date.UTC(2026, 10, 22);

/** Asked without a key; the fake operations admit everything that has one. */
async function opened(given: Parameters<Cores['open']>[0] = {}, capacity?: () => number) {
  const clock = new ManualClock(start);
  const carriers = (all: readonly Carrier[]) =>
    capacity === undefined ? all : all.map(({ kind: _, ...one }): Carrier => ({ ...one, capacity }));
  const core = await cores.open({ clock, ...given }, { carriers });
  const { operations, admissions } = fakeOperations();
  const reported: unknown[] = [];
  const readiness = readinessOf({ ...core, clock, report: (error) => void reported.push(error) });
  const app = openApp(operations, { readiness });
  const get = async (path: string, method = 'GET') => {
    const response = await app.fetch(request(path, { ...withoutKey, method }));
    const text = await response.text();
    return {
      status: response.status,
      body: text === '' ? null : JSON.parse(text),
      headers: response.headers,
    };
  };
  return { core, clock, get, admissions, reported };
}

describe('/healthz and /readyz', () => {
  it('answer without a key, and take no token', async () => {
    const { get, admissions } = await opened();
    expect(await get('/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
    const since = new Date(start).toISOString();
    expect(await get('/readyz')).toMatchObject({
      status: 200,
      body: {
        status: 'ready',
        carriers: [
          { lane: 'sms', state: 'simulated', since },
          { lane: 'email', state: 'simulated', since },
        ],
      },
    });
    expect(await get('/readyz', 'HEAD')).toMatchObject({ status: 200, body: null });
    expect(await get('/readyz', 'POST')).toMatchObject({ status: 405 });
    expect(admissions).toEqual([]);
  });

  it('are served to whoever connects', async () => {
    const service = await createService();
    const { url, close } = await service.listen({ port: 0 });
    const { origin } = new URL(url);
    const answers = await Promise.all(['/healthz', '/readyz'].map((path) => fetch(origin + path)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await close();
    await service.close();
  });

  it('name the lanes that are down, since when, and stay ready', async () => {
    let room = 5;
    const { get, clock } = await opened({}, () => room);
    clock.advance(10_000);
    room = 0;
    await get('/readyz');
    clock.advance(5_000);
    const since = new Date(start + 10_000).toISOString();
    expect(await get('/readyz')).toMatchObject({
      status: 200,
      body: {
        status: 'ready',
        carriers: [
          { state: 'down', since },
          { state: 'down', since },
        ],
      },
    });
    room = 5;
    expect((await get('/readyz')).body.carriers).toMatchObject([{ state: 'bound' }, { state: 'bound' }]);
  });

  it.each([
    ['restored', 'The data was restored'],
    ['failed_over', 'failed over'],
  ] as const)('say that the service is held: %s', async (reason, why) => {
    const { core, get, clock } = await opened();
    await core.store.hold(reason);
    const { status, body, headers } = await get('/readyz');
    expect({ status, retry: headers.get('retry-after') }).toEqual({ status: 503, retry: '1' });
    expect(body).toMatchObject({
      status: 'held',
      error: { code: 'unavailable', message: expect.stringContaining(why) },
      carriers: [{ lane: 'sms' }, { lane: 'email' }],
    });
    expect(body.error.message).toContain('urtuu service release');
    expect((await get('/healthz')).status).toBe(200);
    await core.store.release();
    clock.advance(1_000);
    expect((await get('/readyz')).status).toBe(200);
  });

  it('say that the service is stopping, at once, while every request is answered', async () => {
    const service = await createService({ rates: 'off', clock: new ManualClock(start) });
    onTestFinished(() => service.close());
    const { url } = await service.listen({ port: 0 });
    const ready = () => fetch(url.replace('/v1', '/readyz'));
    expect((await ready()).status).toBe(200);
    service.drain();
    const answer = await ready();
    expect({ status: answer.status, retry: answer.headers.get('retry-after') }).toEqual({
      status: 503,
      retry: '1',
    });
    expect(await answer.json()).toMatchObject({ status: 'stopping', error: { code: 'unavailable' } });
    const headers = { authorization: `Bearer ${service.localKey}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ to: '99112233', text: 'Hello' });
    expect((await fetch(`${url}/sms`, { method: 'POST', headers, body })).status).toBe(200);
    expect((await fetch(url.replace('/v1', '/healthz'))).status).toBe(200);
  });

  it.each(['a closed store', 'an unexpected error'])(
    'say that the store cannot be used: %s',
    async (what) => {
      const { core, get, reported } = await opened();
      if (what === 'a closed store') await core.close();
      else core.storage.check = () => Promise.reject(new Error('secret detail'));
      const { status, body } = await get('/readyz');
      expect({ status, body }).toMatchObject({ status: 503, body: { status: 'unavailable' } });
      expect(JSON.stringify(body)).not.toContain('secret detail');
      expect(reported).toHaveLength(1);
    },
  );

  it('say that the schema is older, or gone, and mind no newer one', async () => {
    const database = await newDatabase();
    const { get, clock } = await opened({ database, secret: testSecret });
    await query(database, 'UPDATE urtuu_schema SET version = version + 1');
    expect((await get('/readyz')).status).toBe(200);
    await query(database, 'UPDATE urtuu_schema SET version = 0');
    clock.advance(1_000);
    expect(await get('/readyz')).toMatchObject({
      status: 503,
      body: { error: { message: 'the database was written by an older version of urtuu' } },
    });
    await query(database, 'ALTER SCHEMA urtuu RENAME TO gone');
    clock.advance(1_000);
    expect(await get('/readyz')).toMatchObject({ status: 503, body: { status: 'unavailable' } });
  });

  it.each([
    [
      'has no connection for it',
      'ALTER ROLE :role CONNECTION LIMIT 0',
      'ALTER ROLE :role CONNECTION LIMIT -1',
    ],
    ['is read-only', 'ALTER ROLE :role SET default_transaction_read_only = on', 'ALTER ROLE :role RESET ALL'],
    [
      'takes no message from its role',
      'REVOKE INSERT ON messages FROM :role',
      'GRANT ALL ON messages TO :role',
    ],
    ['shows its role no key', 'REVOKE SELECT ON keys FROM :role', 'GRANT ALL ON keys TO :role'],
    ['shows its role no message', 'REVOKE SELECT ON messages FROM :role', 'GRANT ALL ON messages TO :role'],
    ['has renamed its schema', 'ALTER SCHEMA urtuu RENAME TO away', 'ALTER SCHEMA away RENAME TO urtuu'],
    ['is gone', 'DROP DATABASE :name WITH (FORCE)', null],
  ])('/readyz is 503 while the database %s', async (_, begin, end) => {
    const url = await newDatabase();
    const name = new URL(url).pathname.slice(1);
    const server = url.replace(name, 'postgres');
    const { role, as } = await newRole(url);
    await query(url, `ALTER DATABASE ${name} OWNER TO ${role}`);
    const { get, clock } = await opened({ database: as, secret: testSecret });
    const ready = async () => {
      clock.advance(1_000);
      return (await get('/readyz')).status;
    };
    const run = (sql: string) =>
      query(sql.startsWith('DROP') ? server : url, sql.replace(':role', role).replace(':name', name));
    expect(await ready()).toBe(200);
    await run(begin);
    // Settings and limits of a role are those of its next sessions.
    await query(server, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
    await vi.waitUntil(async () => (await ready()) === 503, { timeout: 5_000 });
    if (end === null) return;
    await run(end);
    await query(server, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
    await vi.waitUntil(async () => (await ready()) === 200, { timeout: 10_000 });
  });

  it('/readyz asks the store once a second, however many ask', async () => {
    const { core, get, clock } = await opened();
    let asked = 0;
    core.storage.check = async () => {
      asked += 1;
    };
    await Promise.all([get('/readyz'), get('/readyz'), get('/readyz')]);
    clock.advance(999);
    await get('/readyz');
    expect(asked).toBe(1);
    clock.advance(1);
    await get('/readyz');
    expect(asked).toBe(2);
  });

  it('requests are admitted where the connections of PostgreSQL are short', async () => {
    const url = await newDatabase();
    const { role, as } = await newRole(url);
    await query(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO ${role}`);
    await query(url, `ALTER ROLE ${role} CONNECTION LIMIT 4`);
    const core = await cores.open({ database: as, secret: testSecret });
    const { store, rateLimiter } = core.storage;
    const busy = () => Promise.allSettled(Array.from({ length: 40 }, () => store.renameProject('none', 'x')));
    const take = () => rateLimiter.take('p', 'send', { interval: 1, burst: 10 });
    await busy();
    expect(await take()).toMatchObject({ allowed: true });
    await query(url, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
    await busy();
    await vi.waitFor(take, { timeout: 5_000 });
  });
});
