// Projects that take turns in one lane.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultProject } from '../../src/service/admin/projects.js';
import { type Core, openCore } from '../../src/service/core.js';
import { findBinaries } from '../support/postgres/binaries.js';
import { durable, makeCluster } from '../support/postgres/cluster.js';
import { query } from '../support/postgres.js';
import { smppRoute } from '../support/routes.js';
import { Smsc } from '../support/smsc.js';
import { inPairs, type Row } from './pairs.js';
import { claimRate, secret } from './postgres-callers.js';

const lane = 'Mobicom';
const fewPerSecond = 100;
const manyPerSecond = 5_000;
const manyProjects = 100;
const perProject = 1_000;
const backlog = Number(process.env.BACKLOG ?? 1_000_000);
const batchSize = 1_000;
const newcomer = 99_000_000;

/** Where the data of a service is, new each time. */
type NewData = () => Promise<{ directory: string } | { database: string; secret: Uint8Array }>;

/** Puts messages into the queue, as a release that accepts them and stops at once. */
async function fill(data: Awaited<ReturnType<NewData>>, projects: number, each: number): Promise<string[]> {
  const core = await openCore({ ...data, rates: 'off' });
  const ids = [defaultProject.id];
  try {
    await core.store.pauseLane(lane);
    while (ids.length < projects) ids.push((await core.administration.createProject('other')).id);
    for (const [index, id] of ids.entries()) {
      await (await core.administration.project(id))?.credit(100_000_000);
      for (let from = 0; from < each; from += batchSize)
        await core.store.acceptBatch(batchOf(id, index, from, Math.min(batchSize, each - from)));
    }
    return ids;
  } finally {
    await core.close();
  }
}

/** To numbers that name their project: 10,000,000 and up, 100,000 for each, none of the newcomer's. */
function batchOf(projectId: string, project: number, from: number, count: number) {
  const recipients = Array.from({ length: count }, (_, index) => ({
    id: randomUUID(),
    to: `${10_000_000 + ((project * 100_000 + from + index) % 80_000_000)}`,
    operator: lane,
    lane,
    route: lane,
  }));
  return {
    ...{ projectId, batchId: randomUUID(), channel: 'sms' as const, parts: 1, rateMultiplier: 1, credits: 1 },
    content: { text: 'Hello', html: null, subject: null, from: null, replyTo: null, encrypted: null },
    ...{ idempotencyKey: null, claim: null, boundMs: 86_400_000, recipients },
    answer: () => ({ status: 202, body: '{}' }),
  };
}

/** Instances of a service with one route, until it has what it came for. */
async function withInstances<Result>(
  data: Awaited<ReturnType<NewData>>,
  { instances, perSecond }: { instances: number; perSecond: number },
  work: (cores: readonly Core[], smsc: Smsc) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-bench-turns-'));
  const file = join(folder, 'service.json');
  const smsc = new Smsc();
  const more = { name: lane, per_second: perSecond, binds: instances, window: 50 };
  const route = smppRoute(await smsc.listen(), more);
  writeFileSync(file, JSON.stringify({ sms: { routes: [route] }, email: 'off' }));
  const configuration = { file, environment: { PASSWORD: 'secret' } };
  const cores: Core[] = [];
  try {
    while (cores.length < instances) cores.push(await openCore({ ...data, configuration, rates: 'off' }));
    await cores[0]?.store.resumeLane(lane);
    return await work(cores, smsc);
  } finally {
    for (const core of cores) await core.close();
    await smsc.close();
    rmSync(folder, { recursive: true });
  }
}

/** Milliseconds until a batch of 10 is taken, with so many messages of another project before it. */
async function batchOfTen(newData: NewData, waiting: number, instances: number): Promise<number> {
  const data = await newData();
  await fill(data, 1, waiting);
  return withInstances(data, { instances, perSecond: fewPerSecond }, async (cores, smsc) => {
    const core = cores[instances - 1] as Core;
    const { id: projectId } = await core.administration.createProject('newcomer');
    // The lane is in full swing, or idle.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const to = Array.from({ length: 10 }, (_, index) => `${newcomer + index}`);
    const start = performance.now();
    const call = {
      caller: { projectId, keyId: 'bench' },
      params: { to, text: 'Hello' },
      idempotencyKey: null,
    };
    await core.operations.sendSmsBulk(call);
    while (smsc.taken.filter((one) => one.to.startsWith('9900000')).length < 10)
      await new Promise((resolve) => setTimeout(resolve, 5));
    return performance.now() - start;
  });
}

/** How far a project was from an equal share at any tenth of the way, of its share; and messages a second. */
async function shares(newData: NewData, instances: number): Promise<{ worst: number; rate: number }> {
  const data = await newData();
  await fill(data, manyProjects, perProject);
  const total = manyProjects * perProject;
  return withInstances(data, { instances, perSecond: manyPerSecond }, async (_, smsc) => {
    const start = performance.now();
    while (smsc.taken.length < total) await new Promise((resolve) => setTimeout(resolve, 10));
    const rate = (total / (performance.now() - start)) * 1_000;
    const counts = new Array<number>(manyProjects).fill(0);
    let worst = 0;
    for (const [index, { to }] of smsc.taken.entries()) {
      const project = Math.floor((Number(to) - 10_000_000) / 100_000);
      counts[project] = (counts[project] ?? 0) + 1;
      const share = (index + 1) / manyProjects;
      if ((index + 1) % (total / 10) === 0)
        for (const count of counts) worst = Math.max(worst, Math.abs(count - share) / share);
    }
    return { worst, rate };
  });
}

/** Messages a second from the queue to their end, of so many projects. */
async function claims(newData: NewData, projects: number): Promise<number> {
  const data = await newData();
  await fill(data, projects, Math.ceil(200_000 / projects));
  const core = await openCore({ ...data, rates: 'off' }, {}, { forOwner: true });
  try {
    await core.store.resumeLane(lane);
    await claimRate(core.store, 0.5, { lane, class: 'batch' });
    return await claimRate(core.store, 3, { lane, class: 'batch' });
  } finally {
    await core.close();
  }
}

async function ofEngine(engine: string, newData: NewData): Promise<Row[]> {
  const table: Row[] = [];
  for (const instances of [1, 2]) {
    const alone = await batchOfTen(newData, 0, instances);
    const behind = await batchOfTen(newData, backlog, instances);
    table.push({
      what: `a batch of 10 behind ${backlog.toLocaleString('en')} of another project, ${fewPerSecond}/s, ${instances} of it: ${engine}`,
      against: 'alone',
      goal: '2 s more',
      measured: `${behind.toFixed(0)} ms to ${alone.toFixed(0)} ms`,
      met: behind - alone <= 2_000,
    });
    const { worst, rate } = await shares(newData, instances);
    table.push({
      what: `${manyProjects} projects with ${perProject.toLocaleString('en')} messages each, ${manyPerSecond.toLocaleString('en')}/s, ${instances} of it: ${engine}`,
      against: 'equal shares, at every tenth of the way',
      goal: '10 %',
      measured: `${(worst * 100).toFixed(0)} % at most (${rate.toFixed(0)}/s)`,
      met: worst <= 0.1,
    });
  }
  const { ratio, a, b } = await inPairs(
    () => claims(newData, 1_000),
    () => claims(newData, 1),
    3,
  );
  table.push({
    what: `claim to final of 1,000 projects: ${engine}`,
    against: 'of one',
    goal: '0.95 of its rate',
    measured: `${ratio.toFixed(2)} (${a.toFixed(0)}/s to ${b.toFixed(0)}/s)`,
    met: ratio >= 0.95,
  });
  return table;
}

export async function turns(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-bench-cluster-'));
  const cluster = await makeCluster(folder, findBinaries(folder), durable);
  let made = 0;
  try {
    const onSqlite = await ofEngine('SQLite', async () => {
      made += 1;
      return { directory: join(folder, `service-${made}`) };
    });
    const onPostgres = await ofEngine('PostgreSQL', async () => {
      made += 1;
      await query(`${cluster.url}/postgres`, `CREATE DATABASE turns_${made}`);
      return { database: `${cluster.url}/turns_${made}`, secret };
    });
    return [...onSqlite, ...onPostgres];
  } finally {
    await cluster.stop('immediate').catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}
