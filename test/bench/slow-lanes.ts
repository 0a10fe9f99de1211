// Messages of a lane beside one number that its operator never takes.
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

const messages = 1_000;
const perSecond = 100;
const poison = '99999999';
const queueFull = 0x14;
const secret = new Uint8Array(32).fill(7);
const numbers = Array.from({ length: messages }, (_, index) => `${99_000_000 + index}`);

/** Opens a service with one route on new data. */
type Open = (port: number, folder: string) => Promise<Core>;

function configurationIn(folder: string, port: number) {
  const file = join(folder, 'service.json');
  const route = smppRoute(port, { per_second: perSecond, window: 20 });
  writeFileSync(file, JSON.stringify({ sms: { routes: [route] }, email: 'off' }));
  return { file, environment: { PASSWORD: 'secret' } };
}

/** Milliseconds until all of them are taken, each project with its share and, if at all, with the number first. */
async function sendAll(open: Open, projects: number, isPoisoned: boolean): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-bench-slow-'));
  const smsc = new Smsc({ react: ({ to }) => (to === poison ? queueFull : 'take') });
  const core = await open(await smsc.listen(), folder);
  try {
    const ids = [defaultProject.id];
    while (ids.length < projects) ids.push((await core.administration.createProject('other')).id);
    const each = messages / projects;
    const start = performance.now();
    await Promise.all(
      ids.map((projectId, index) => {
        const to = numbers.slice(index * each, (index + 1) * each);
        return core.operations.sendSmsBulk({
          caller: { projectId, keyId: 'bench' },
          params: { to: isPoisoned ? [poison, ...to.slice(0, 999)] : to, text: 'Hi' },
          idempotencyKey: null,
        });
      }),
    );
    const expected = isPoisoned && projects === 1 ? messages - 1 : messages;
    while (smsc.taken.length < expected) await new Promise((resolve) => setTimeout(resolve, 2));
    return ((performance.now() - start) * messages) / expected;
  } finally {
    await core.close();
    await smsc.close();
    rmSync(folder, { recursive: true });
  }
}

export async function slowLanes(pairs = 3): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-bench-cluster-'));
  const cluster = await makeCluster(folder, findBinaries(folder), durable);
  let databases = 0;
  const engines: [string, Open][] = [
    [
      'SQLite',
      (port, data) =>
        openCore({
          directory: join(data, 'service'),
          configuration: configurationIn(data, port),
          rates: 'off',
        }),
    ],
    [
      'PostgreSQL',
      async (port, data) => {
        databases += 1;
        await query(`${cluster.url}/postgres`, `CREATE DATABASE slow_${databases}`);
        const database = `${cluster.url}/slow_${databases}`;
        return openCore({ database, secret, configuration: configurationIn(data, port), rates: 'off' });
      },
    ],
  ];
  const table: Row[] = [];
  try {
    for (const [engine, open] of engines) {
      for (const projects of [1, 2]) {
        const { ratio, a, b } = await inPairs(
          () => sendAll(open, projects, true),
          () => sendAll(open, projects, false),
          pairs,
        );
        table.push({
          what: `one number answered 0x14 for ever, beside 1,000 of ${projects === 1 ? 'one project' : 'two projects'}: ${engine}`,
          against: 'without it',
          goal: '1.05 of its time',
          measured: `${ratio.toFixed(2)} (${a.toFixed(0)} ms to ${b.toFixed(0)} ms, at ${perSecond} a second)`,
          met: ratio <= 1.05,
        });
      }
    }
    return table;
  } finally {
    await cluster.stop('immediate').catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}
