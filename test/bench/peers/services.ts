import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { printed, root } from '../../support/binary.js';
import { findBinaries } from '../../support/postgres/binaries.js';
import { durable, makeCluster } from '../../support/postgres/cluster.js';
import { query } from '../../support/postgres.js';
import { cpuOfFamily, cpuOfProcess } from '../cpu.js';
import type { Row } from '../pairs.js';
import { postRate, type Service } from '../service-http.js';
import { startService } from '../service-process.js';
import { type Cost, rowOf, sideBySide } from './side-by-side.js';

const text = 'Сайн байна уу, таны захиалга ирлээ.';
const apiKey = 'secret';

/** A service of one file, in a process of its own. */
async function startPeer(modules: string, file: string, data: string, ...more: string[]) {
  const child = spawn(process.execPath, [join(root, 'test/bench/peers', file), data, apiKey, ...more], {
    env: { ...process.env, NODE_PATH: modules, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = Number(await printed(child, 'stdout', /\n/));
  return {
    url: `http://127.0.0.1:${port}/v1`,
    key: apiKey,
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}

// Each once, for the service counts what one gets; numbers below these are answered with faults.
let recipient = 99_100_000;

/** `cpu`: milliseconds of all processes that it took so far. */
async function sends(service: Service, cpu: () => number, connections: number): Promise<Cost> {
  const total = connections === 1 ? 1_000 : 4_000;
  const before = cpu();
  const rate = await postRate(service, '/sms', total, connections, () => ({ to: `${recipient++}`, text }));
  return { cpu: (cpu() - before) / total, rate };
}

const versionsOf = (modules: string, ...names: string[]) =>
  names
    .map((name) => `${name} ${JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')).version}`)
    .join(' and ');

type Running = Service & { pid: number };

async function compare(
  on: string,
  against: string,
  { ours, theirs }: { ours: Running; theirs: Running },
  engine: () => number,
  pairs: number,
  all: readonly number[] = [1, 16],
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const connections of all) {
    const cost = (service: Running) => () =>
      sends(service, () => cpuOfProcess(service.pid) + engine(), connections);
    const compared = await sideBySide(cost(ours), cost(theirs), pairs);
    const many = connections === 1 ? '1 connection' : `${connections} connections`;
    rows.push(rowOf(`POST /v1/sms on ${on}, ${many}`, against, compared));
  }
  return rows;
}

/** The built service, and services of one file with a durable row before each answer, and keys that are looked up. */
export async function serviceRows(modules: string, pairs: number): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-bench-peers-'));
  const cluster = await makeCluster(folder, findBinaries(folder), durable);
  const [postmaster] = readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n');
  try {
    for (const name of ['ours', 'theirs']) await query(`${cluster.url}/postgres`, `CREATE DATABASE ${name}`);
    await using sqlite = await startService('off');
    const expressOn = (engine: string) =>
      startPeer(modules, 'express.cjs', join(folder, `${basename(engine)}.db`), engine);
    await using express = await expressOn('better-sqlite3');
    await using ofOurs = await expressOn('@photostructure/sqlite');
    const onSqlite = [
      ...(await compare(
        'SQLite',
        versionsOf(modules, 'express', 'better-sqlite3'),
        { ours: sqlite, theirs: express },
        () => 0,
        pairs,
      )),
      ...(await compare(
        'SQLite',
        `${versionsOf(modules, 'express')} and the same SQLite`,
        { ours: sqlite, theirs: ofOurs },
        () => 0,
        pairs,
        [1],
      )),
    ];
    await using postgres = await startService('off', root, { database: `${cluster.url}/ours` });
    await using fastify = await startPeer(modules, 'fastify-pg.cjs', `${cluster.url}/theirs`);
    const onPostgres = await compare(
      'PostgreSQL, its cpu included',
      versionsOf(modules, 'fastify', 'pg'),
      { ours: postgres, theirs: fastify },
      () => cpuOfFamily(Number(postmaster)),
      pairs,
    );
    return [...onSqlite, ...onPostgres];
  } finally {
    await cluster.stop('immediate').catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}
