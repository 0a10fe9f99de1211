// What a message takes of PostgreSQL, what several instances carry, and what 1,000,000,000 messages a day would need.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultProject } from '../../src/service/admin/projects.js';
import type { Carrier } from '../../src/service/carriers/carrier.js';
import { type Core, openCore } from '../../src/service/core.js';
import { findBinaries } from '../support/postgres/binaries.js';
import { durable, makeCluster } from '../support/postgres/cluster.js';
import { query } from '../support/postgres.js';
import { recipientOf } from './made-folder.js';
import type { Row } from './pairs.js';
import { buildInstance, instances } from './postgres.js';
import { project, secret } from './postgres-callers.js';
import { partitions } from './scale-partitions.js';
import { routing } from './scale-routing.js';

const messages = Number(process.env.URTUU_BENCH_MESSAGES ?? 20_000);
const batchSize = 1_000;
const callers = 64;
const text = 'Таны захиалга бэлэн боллоо.';
const subject = 'Таны захиалга';
const mail = text.repeat(40);
const caller = { projectId: defaultProject.id, keyId: 'bench' };

/** Takes everything, at once; an SMS gets one id, under which its receipt would come. */
const taking = (carriers: readonly Carrier[]) =>
  carriers.map(
    (one): Carrier => ({
      ...one,
      submit: async ({ reference, channel }) => ({
        kind: 'accepted',
        carrierIds: channel === 'sms' ? [reference.slice(-10)] : [],
      }),
    }),
  );

async function singles(send: (index: number) => Promise<unknown>): Promise<void> {
  let index = 0;
  const call = async () => {
    while (index < messages) await send(index++);
  };
  await Promise.all(Array.from({ length: callers }, call));
}

async function batches(core: Core, send: (from: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < messages; from += batchSize) {
    await send(from);
    await core.administration.idle();
  }
}

const listOf = (from: number, to: (index: number) => string) =>
  Array.from({ length: batchSize }, (_, index) => to(from + index));
const addressOf = (index: number) => `customer${index}@example.mn`;

const kinds: Record<string, (core: Core) => Promise<void>> = {
  'a single SMS': ({ operations }) =>
    singles((index) =>
      operations.sendSms({
        ...{ caller, params: { to: recipientOf(index), text } },
        idempotencyKey: randomUUID(),
      }),
    ),
  'an SMS of a batch of 1,000': (core) =>
    batches(core, (from) =>
      core.operations.sendSmsBulk({
        ...{ caller, params: { to: listOf(from, recipientOf), text } },
        idempotencyKey: randomUUID(),
      }),
    ),
  'a single email of 2 kB': ({ operations }) =>
    singles((index) =>
      operations.sendEmail({
        ...{ caller, params: { to: addressOf(index), subject, text: mail } },
        idempotencyKey: randomUUID(),
      }),
    ),
  'an email of a batch of 1,000': (core) =>
    batches(core, (from) =>
      core.operations.sendEmailBulk({
        ...{ caller, params: { to: listOf(from, addressOf), subject, text: mail } },
        idempotencyKey: randomUUID(),
      }),
    ),
};

interface Usage {
  table: number;
  index: number;
  wal: number;
  /** Milliseconds of PostgreSQL's processes, and of this one. */
  cpu: number;
}

async function usageOf(database: string, cluster: string): Promise<Usage> {
  const [row] = await query<Record<'table' | 'index' | 'wal', string>>(
    database,
    `SELECT sum(pg_table_size(oid)) AS table, sum(pg_indexes_size(oid)) AS index,
       pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS wal
     FROM pg_class WHERE relkind = 'r' AND relnamespace = 'urtuu'::regnamespace`,
  );
  const { user, system } = process.cpuUsage();
  const [table, index, wal] = [Number(row?.table), Number(row?.index), Number(row?.wal)];
  return { table, index, wal, cpu: (user + system) / 1_000 + cpuOfServer(cluster) };
}

/** Milliseconds of a server's processes, those that have ended included: a tick of /proc is 10 of them. */
function cpuOfServer(folder: string): number {
  const [postmaster] = readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n');
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const fields = statOf(pid);
    const [parent, user, system, endedUser, endedSystem] = [1, 11, 12, 13, 14].map((at) => fields[at]);
    if (pid === postmaster) ticks += Number(endedUser) + Number(endedSystem);
    if (pid === postmaster || parent === postmaster) ticks += Number(user) + Number(system);
  }
  return ticks * 10;
}

/** The fields behind the name, which may have spaces; none of a process that has ended. */
function statOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  } catch {
    return [];
  }
}

/** Of one message. */
async function costOf(database: string, cluster: string, send: (core: Core) => Promise<void>) {
  const core = await openCore({ database, secret, rates: 'off' }, { carriers: taking });
  try {
    await core.administration.credit(messages * 20);
    const before = await usageOf(database, cluster);
    await send(core);
    await core.administration.idle();
    const after = await usageOf(database, cluster);
    const each = (name: keyof Usage) => (after[name] - before[name]) / messages;
    return { table: each('table'), index: each('index'), wal: each('wal'), cpu: each('cpu') * 1_000 };
  } finally {
    await core.close();
  }
}

const row = (what: string, against: string, measured: string): Row => ({
  ...{ what, against, goal: 'none set', measured, met: true },
});

/** What so many messages a day take of the cores, the disk and the log, evenly over the day. */
function dayOf(perDay: number, { table, index, wal, cpu }: Usage): string {
  const perSecond = perDay / 86_400;
  const terabytes = (bytes: number) => (bytes / 1e12).toFixed(2);
  return [
    `${perSecond.toFixed(0)}/s`,
    `${((perSecond * cpu) / 1_000_000).toFixed(1)} cores`,
    `${terabytes(perDay * (table + index))} TB of tables and indexes`,
    `${terabytes(perDay * wal)} TB of WAL`,
  ].join(', ');
}

export async function scale(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-bench-scale-'));
  const cluster = await makeCluster(folder, findBinaries(folder), durable);
  const newDatabase = async (name: string) => {
    await query(`${cluster.url}/postgres`, `CREATE DATABASE ${name}`);
    return `${cluster.url}/${name}`;
  };
  const rows: Row[] = [];
  try {
    for (const [index, [kind, send]] of Object.entries(kinds).entries()) {
      // What an earlier one has left to write is not this one's.
      const database = await newDatabase(`kind_${index}`);
      await query(database, 'CHECKPOINT');
      const cost = await costOf(database, folder, send);
      const bytes = `${cost.table.toFixed(0)} bytes of tables, ${cost.index.toFixed(0)} of indexes, ${cost.wal.toFixed(0)} of WAL`;
      rows.push(row(`${kind}, of ${messages}`, 'PostgreSQL', `${bytes}, ${cost.cpu.toFixed(0)} us of cpu`));
      rows.push(row(`${kind}: 1,000,000,000 a day`, 'computed from the row above', dayOf(1e9, cost)));
    }
    const database = await newDatabase('instances');
    const core = await openCore({ database, secret });
    await core.store.createProject({ id: project, name: 'Bench', balance: 1_000_000_000 });
    await core.close();
    const script = await buildInstance();
    for (const count of [1, 2, 4]) {
      const rate = await instances(script, database, count);
      rows.push(row(`accept and finalize, ${count} x 16 callers of one project`, '', `${rate.toFixed(0)}/s`));
    }
    rows.push(...(await partitions(await newDatabase('partitions'))));
    rows.push(...(await routing(await newDatabase('one'), await newDatabase('other'))));
    return rows;
  } finally {
    await cluster.stop('immediate').catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}
