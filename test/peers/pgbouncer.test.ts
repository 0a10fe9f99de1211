import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { createService, type Service } from '../../src/service/index.js';
import { installed } from '../support/postgres/binaries.js';
import { type Cluster, makeCluster } from '../support/postgres/cluster.js';
import { query } from '../support/postgres.js';
import { needProgram } from './programs.js';

const program = '/usr/sbin/pgbouncer';
const secret = new Uint8Array(32).fill(7);
const folder = mkdtempSync(join(tmpdir(), 'urtuu-pgbouncer-'));
const clusterFolder = join(folder, 'postgres');
/** It refuses to run as root. */
const owner = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
let bin: string;
let cluster: Cluster;
let pooler: ChildProcess;
let pooled: string;
const services: Service[] = [];

beforeAll(async () => {
  const found = installed();
  if (found === null) throw new Error('PostgreSQL is missing: apt-get install postgresql');
  needProgram(program, 'pgbouncer');
  bin = found;
  mkdirSync(clusterFolder);
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
  cluster = await makeCluster(clusterFolder, { bin, env: process.env });
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  const users = join(folder, 'users.txt');
  writeFileSync(users, '"postgres" ""\n');
  const settings = join(folder, 'pgbouncer.ini');
  writeFileSync(
    settings,
    `[databases]
* = host=127.0.0.1 port=${new URL(cluster.url).port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
admin_users = postgres
pool_mode = transaction
default_pool_size = 6
`,
  );
  pooler = spawn(program, [settings], { ...owner, stdio: 'ignore' });
  pooled = `postgres://postgres@127.0.0.1:${port}`;
  await vi.waitFor(() => throughPooler('postgres', 'SELECT 1'), { timeout: 5_000 });
});

afterEach(() => Promise.all(services.splice(0).map((service) => service.close())));
afterAll(async () => {
  pooler?.kill('SIGKILL');
  await cluster?.stop('immediate').catch(() => {});
  rmSync(folder, { recursive: true, force: true });
});

/** Without the options of `query`, which the pooler refuses. */
async function throughPooler(database: string, text: string): Promise<void> {
  const client = new Client({ connectionString: `${pooled}/${database}` });
  client.on('error', () => {});
  await client.connect();
  await client.query(text).finally(() => client.end());
}

async function start(database: string): Promise<Service> {
  const service = await createService({ database, secret, rates: 'off', report() {} });
  services.push(service);
  return service;
}

async function post(service: Service, path: string, body: object, key: string) {
  const headers = {
    authorization: `Bearer ${service.localKey}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  };
  const url = `http://service/v1${path}`;
  const response = await service.fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
}

/** Two instances send at once, some with the same keys; everything arrives once, and the books agree. */
async function sendThrough(instances: readonly [Service, Service], database: string): Promise<void> {
  const singles = Array.from({ length: 60 }, (_, index) =>
    post(
      instances[index % 2] as Service,
      '/sms',
      { to: `${88_000_000 + (index >> 1)}`, text: 'Hi' },
      `k${index >> 1}`,
    ),
  );
  const to = Array.from({ length: 300 }, (_, index) => `${95_000_000 + index}`);
  const bulk = await post(instances[0], '/sms/bulk', { to, text: 'Hi' }, 'bulk');
  expect(bulk.status).toBe(202);
  const answers = await Promise.all(singles);
  for (let index = 0; index < answers.length; index += 2) {
    expect(answers[index]?.status).toBe(200);
    expect(answers[index]?.body).toEqual(answers[index + 1]?.body);
  }
  await Promise.all(instances.map(({ administration }) => administration.idle()));
  const [books] = await query(
    database,
    `SELECT (SELECT count(*)::int FROM deliveries) AS deliveries,
       (SELECT count(DISTINCT reference)::int FROM deliveries) AS messages,
       (SELECT balance - (SELECT sum(amount) FROM ledger) FROM projects)::int AS off`,
  );
  expect(books).toEqual({ deliveries: 330, messages: 330, off: 0 });
}

it('instances behind PgBouncer in transaction mode send everything once', async () => {
  await query(`${cluster.url}/postgres`, 'CREATE DATABASE pooled');
  const direct = `${cluster.url}/pooled`;
  // Makes the tables and sets the timeouts of the role, which a pooler's open connections would not see.
  await (await createService({ database: direct, secret })).close();
  const instances = [await start(`${pooled}/pooled`), await start(`${pooled}/pooled`)] as const;
  await sendThrough(instances, direct);
});

it('a database that was made behind PgBouncer is refused until the pooler connects anew', async () => {
  await query(`${cluster.url}/postgres`, 'CREATE DATABASE fresh');
  const database = `${pooled}/fresh`;
  // The connections that the pooler has do not know the timeouts yet.
  await expect(start(database)).rejects.toMatchObject({
    message: 'statement_timeout of the role is off',
    hint: expect.stringContaining('restart the pooler'),
  });
  await throughPooler('pgbouncer', 'RECONNECT');
  await vi.waitUntil(() => start(database).catch(() => null), { timeout: 5_000, interval: 200 });
});

it('instances send everything once while pgbench keeps the server busy', async () => {
  await query(`${cluster.url}/postgres`, 'CREATE DATABASE busy');
  const { hostname, port } = new URL(cluster.url);
  const target = ['-h', hostname, '-p', port, '-U', 'postgres', 'busy'];
  execFileSync(join(bin, 'pgbench'), ['-i', '-s', '1', '-q', ...target], { stdio: 'ignore' });
  const load = spawn(join(bin, 'pgbench'), ['-c', '8', '-T', '60', '-n', ...target], { stdio: 'ignore' });
  try {
    const database = `${cluster.url}/busy`;
    await sendThrough([await start(database), await start(database)], database);
    expect(load.exitCode).toBeNull();
  } finally {
    load.kill('SIGKILL');
  }
});
