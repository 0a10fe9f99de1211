// What the owner of a large database does: verify it, serve it, back it up and restore it, and prune it.
import { execFileSync } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Machine } from '../support/binary.js';
import { query } from '../support/postgres.js';
import { recipientOf, recipients } from './made-folder.js';
import type { Row } from './pairs.js';
import { post, type Service } from './service-http.js';
import { startService } from './service-process.js';

const instances = 3;
const busy = { callers: 48, pauseMs: 0 };
const calm = { callers: 10, pauseMs: 100 };
const loadMs = 30_000;
const text = 'Таны захиалга бэлэн боллоо.';

export interface Place {
  /** Of the server. */
  url: string;
  /** Of the database. */
  name: string;
  secretFile: string;
  /** Where pg_dump is. */
  bin: string;
  /** For the dump. */
  folder: string;
}

export const MB = (bytes: number) => `${(bytes / 1_000_000).toFixed(0)} MB`;

export async function sizeOfDatabase(database: string): Promise<number> {
  const [row] = await query<{ size: string }>(
    database,
    'SELECT pg_database_size(current_database()) AS size',
  );
  return Number(row?.size);
}

const databaseOf = ({ url, name }: Place) => `${url}/${name}`;

async function timed<Result>(work: () => Promise<Result> | Result): Promise<[string, Result]> {
  const began = performance.now();
  const result = await work();
  return [`${((performance.now() - began) / 1_000).toFixed(0)} s`, result];
}

const row = (what: string, measured: string): Row => ({
  ...{ what, against: '', goal: 'none set', measured, met: true },
});

async function command(machine: Machine, place: Place, ...line: string[]): Promise<void> {
  const env = { URTUU_DATABASE: databaseOf(place), URTUU_SECRET_FILE: place.secretFile };
  const { code, stdout, stderr } = await machine.run(line, { env });
  if (code !== 0) throw new Error(`urtuu ${line.join(' ')} ended with ${code}: ${stdout}${stderr}`);
}

export async function verified(machine: Machine, place: Place): Promise<Row[]> {
  const [time] = await timed(() => command(machine, place, 'service', 'verify'));
  return [row(`service verify: ${place.name}`, time)];
}

/** Single SMS by callers that pause after each answer; throws for an answer that is none of success. */
async function load(
  services: readonly Service[],
  { callers, pauseMs }: { callers: number; pauseMs: number },
  until: Promise<unknown>,
): Promise<string> {
  const agent = new Agent({ keepAlive: true });
  const waits: number[] = [];
  let isOver = false;
  const began = performance.now();
  const call = async (_: unknown, index: number) => {
    while (!isOver) {
      const asked = performance.now();
      const to = recipientOf(Math.floor(Math.random() * recipients));
      await post(services[index % services.length] as Service, '/sms', agent, { to, text });
      waits.push(performance.now() - asked);
      if (pauseMs > 0) await sleep(pauseMs);
    }
  };
  const all = Promise.all(Array.from({ length: callers }, call));
  await Promise.race([until, all]);
  isOver = true;
  await Promise.all([until, all]);
  agent.destroy();
  const perSecond = waits.length / ((performance.now() - began) / 1_000);
  const sorted = waits.toSorted((one, other) => one - other);
  const percentile = (share: number) => sorted[Math.floor(sorted.length * share)]?.toFixed(0);
  return `${perSecond.toFixed(0)}/s, median ${percentile(0.5)} ms, 99th percentile ${percentile(0.99)} ms`;
}

async function withInstances<Result>(
  place: Place,
  work: (services: readonly Service[]) => Promise<Result>,
): Promise<Result> {
  const services: Awaited<ReturnType<typeof startService>>[] = [];
  const data = { database: databaseOf(place), secretFile: place.secretFile };
  try {
    while (services.length < instances) services.push(await startService('off', undefined, data));
    return await work(services);
  } finally {
    for (const service of services) await service[Symbol.asyncDispose]();
  }
}

export const served = (place: Place): Promise<Row[]> =>
  withInstances(place, async (services) => [
    row(`${instances} instances, ${busy.callers} callers`, await load(services, busy, sleep(loadMs))),
    row(
      `${instances} instances, ${calm.callers} callers who pause`,
      await load(services, calm, sleep(loadMs)),
    ),
  ]);

/** Everything that was made before, beside instances that go on. */
export const pruned = (machine: Machine, place: Place): Promise<Row[]> =>
  withInstances(place, async (services) => {
    const pruning = timed(() => command(machine, place, 'service', 'prune', '--older-than', '5d', '--yes'));
    const beside = await load(services, calm, pruning);
    const [time] = await pruning;
    return [
      row('service prune', `${time}, then ${MB(await sizeOfDatabase(databaseOf(place)))}`),
      row(`${instances} instances beside it, ${calm.callers} callers who pause`, beside),
    ];
  });

export async function backedUpAndRestored(machine: Machine, place: Place): Promise<Row[]> {
  const { url, bin, folder } = place;
  const dump = join(folder, 'urtuu.dump');
  const restored = { ...place, name: 'restored' };
  const program = (name: string, ...words: string[]) =>
    execFileSync(join(bin, name), words, { stdio: ['ignore', 'ignore', 'inherit'] });
  const [dumped] = await timed(() =>
    program('pg_dump', '--format=custom', '--file', dump, databaseOf(place)),
  );
  await query(`${url}/postgres`, 'CREATE DATABASE restored');
  const [time] = await timed(() =>
    program('pg_restore', '--jobs', '2', '--dbname', databaseOf(restored), dump),
  );
  const rows = [
    row('pg_dump', `${dumped}, ${MB(statSync(dump).size)}`),
    row('pg_restore', `${time}, ${MB(await sizeOfDatabase(databaseOf(restored)))}`),
    ...(await verified(machine, restored)),
  ];
  rmSync(dump);
  await query(`${url}/postgres`, 'DROP DATABASE restored');
  return rows;
}

/** The steps in their order. */
export const rehearse = async (machine: Machine, place: Place): Promise<Row[]> => [
  ...(await verified(machine, place)),
  ...(await served(place)),
  ...(await backedUpAndRestored(machine, place)),
  ...(await pruned(machine, place)),
];
