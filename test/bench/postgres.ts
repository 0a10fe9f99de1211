// The store on PostgreSQL against pgbench, both against the same durable server.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { outcomeOf, printed, root } from '../support/binary.js';
import { findBinaries } from '../support/postgres/binaries.js';
import { durable, makeCluster } from '../support/postgres/cluster.js';
import { query } from '../support/postgres.js';
import { inPairs, type Row } from './pairs.js';
import { claimRate, openStorage, project, sendRate } from './postgres-callers.js';

const callers = 16;
const seconds = 4;
const backlog = 10_000_000;

/** A row of a message's size, each in a transaction. */
const bare = `INSERT INTO bare (id, body) VALUES (gen_random_uuid(), repeat('x', 600));`;

async function pgbench(database: string, script: string): Promise<number> {
  const { hostname, port, username, pathname } = new URL(database);
  const target = ['-h', hostname, '-p', port, '-U', username, pathname.slice(1)];
  const run = ['-n', '-f', script, '-c', String(callers), '-j', '2', '-T', String(seconds)];
  const { stdout } = await promisify(execFile)('pgbench', [...run, ...target]).catch((error) => {
    throw error.code === 'ENOENT' ? new Error('pgbench is missing: apt-get install postgresql') : error;
  });
  return Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
}

/** Messages a second of so many instances together, each a process with its callers. */
export async function instances(script: string, database: string, count: number): Promise<number> {
  const children = await Promise.all(
    Array.from({ length: count }, async () => {
      const child = spawn(process.execPath, [script, database, String(callers), String(seconds)], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      await printed(child, 'stdout', /ready/);
      return { child, outcome: outcomeOf(child) };
    }),
  );
  for (const { child } of children) child.stdin?.write('\n');
  const outcomes = await Promise.all(children.map(({ outcome }) => outcome));
  return outcomes.reduce((sum, { stdout }) => sum + Number(/ready\n(.*)/.exec(stdout)?.[1]), 0);
}

/** The program of an instance. */
export async function buildInstance(): Promise<string> {
  const outfile = join(root, 'node_modules/.cache/urtuu/bench/postgres-instance.cjs');
  await build({
    entryPoints: [join(root, 'test/bench/postgres-instance.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
  });
  return outfile;
}

/** Microseconds of the whole machine and of this process for each of what a rate counts, and the share of all cores. */
async function cpuOfEach(rate: () => Promise<number>) {
  const before = busy();
  const ownBefore = process.cpuUsage();
  const began = performance.now();
  const perSecond = await rate();
  const spent = busy() - before;
  const own = process.cpuUsage(ownBefore);
  const passed = performance.now() - began;
  const count = perSecond * (passed / 1_000);
  return {
    machine: (spent * 1_000) / count,
    own: (own.user + own.system) / count,
    share: spent / (passed * cpus().length),
  };
}

/** Milliseconds of all cores. */
const busy = () =>
  cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0);

async function fill(database: string): Promise<void> {
  await query(
    database,
    `SET statement_timeout = 0;
     INSERT INTO contents (seq, text) VALUES (0, 'Hello');
     INSERT INTO messages (seq, id, project, content, channel, recipient, operator, parts, rate_multiplier, credits,
       created_at, counts_at, lane, bound_at)
     SELECT i, 'b-' || i, 1, 0, 'sms', i::text, 'Mobicom', 1, 1, 1, 0, 0, 'sms', 9000000000000
     FROM generate_series(1, ${backlog}) i;
     INSERT INTO queue (lane, class, due_at, message, queued_at, bound_at)
     SELECT 'sms', 0, i, i, 0, 9000000000000 FROM generate_series(1, ${backlog}) i;
     SELECT setval('messages_seq_seq', ${backlog + 1});
     ANALYZE messages, queue`,
  );
}

export async function postgres(pairs = 5): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-bench-postgres-'));
  const cluster = await makeCluster(folder, findBinaries(folder), durable);
  const database = `${cluster.url}/postgres`;
  const script = join(folder, 'bare.sql');
  writeFileSync(script, bare);
  const instance = await buildInstance();
  const { store, close } = await openStorage(database);
  try {
    await query(database, 'CREATE TABLE bare (seq bigserial PRIMARY KEY, id uuid, body text)');
    await store.createProject({ id: project, name: 'Bench', balance: 1_000_000_000 });
    const send = await inPairs(
      () => sendRate(store, callers, seconds),
      () => pgbench(database, script),
      pairs,
    );
    const ours = await cpuOfEach(() => sendRate(store, callers, seconds));
    const theirs = await cpuOfEach(() => pgbench(database, script));
    const two = await inPairs(
      () => instances(instance, database, 2),
      () => instances(instance, database, 1),
      pairs,
    );
    await query(database, 'TRUNCATE messages, queue, leases, contents');
    await fill(database);
    // What filling has left to write is not the claims'.
    await query(database, 'CHECKPOINT');
    await claimRate(store, 1);
    const claims = await claimRate(store, seconds * 2);
    return [
      {
        what: 'PostgreSQL: accept and finalize, 16 callers',
        against: 'pgbench, bare INSERT and COMMIT, 16 clients',
        goal: '0.4 of its rate',
        measured: `${send.ratio.toFixed(2)} (${send.a.toFixed(0)}/s to ${send.b.toFixed(0)}/s)`,
        met: send.ratio >= 0.4,
      },
      {
        what: 'PostgreSQL: cpu of accept and finalize, the whole machine',
        against: `pgbench: ${theirs.machine.toFixed(0)} us, ${(theirs.share * 100).toFixed(0)} % of all cores`,
        goal: 'none set',
        measured: `${ours.machine.toFixed(0)} us (instance ${ours.own.toFixed(0)} us), ${(ours.share * 100).toFixed(0)} % of all cores`,
        met: true,
      },
      {
        what: 'PostgreSQL: two instances, one hot project',
        against: 'one instance',
        goal: '0.9 of its rate',
        measured: `${two.ratio.toFixed(2)} (${two.a.toFixed(0)}/s to ${two.b.toFixed(0)}/s)`,
        met: two.ratio >= 0.9,
      },
      {
        what: `PostgreSQL: claim to final, ${backlog.toLocaleString('en')} waiting`,
        against: '',
        goal: '15,000/s',
        measured: `${claims.toFixed(0)}/s`,
        met: claims >= 15_000,
      },
    ];
  } finally {
    await close();
    await cluster.stop('immediate').catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}
