import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Machine, outcomeOf } from '../support/binary.js';
import { installed } from '../support/postgres/binaries.js';
import { durable, makeCluster } from '../support/postgres/cluster.js';
import { query } from '../support/postgres.js';
import { fillFolder } from './made-folder.js';
import type { Row } from './pairs.js';
import { MB, rehearse, sizeOfDatabase } from './rehearsal.js';

const messages = Number(process.env.URTUU_BENCH_MESSAGES ?? 1_000_000);

/** Of the files in a folder. */
const sizeOf = (folder: string) =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

/** MB that a process has taken at most, so far; 0 once it has ended. */
function peakOf(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1_000;
  } catch {
    return 0;
  }
}

/** Moves a folder by the command. */
export async function moveFolder(
  machine: Machine,
  folder: string,
  database: string,
  secretFile: string,
): Promise<Row[]> {
  const line = ['service', 'move', '--data', folder, '--database', database];
  const began = performance.now();
  const child = machine.start([...line, '--secret-file', secretFile, '--yes', '-o', 'json']);
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid));
  }, 50);
  const { code, stdout, stderr } = await outcomeOf(child);
  clearInterval(timer);
  const seconds = (performance.now() - began) / 1_000;
  if (code !== 0) throw new Error(`the move ended with ${code}: ${stderr}`);
  const { rows } = JSON.parse(stdout) as { rows: number };
  const [count] = await query<{ messages: number; keys: number }>(
    database,
    'SELECT (SELECT count(*) FROM messages)::int AS messages, (SELECT count(*) FROM idempotency)::int AS keys',
  );
  const what = `service move: ${count?.messages} messages, ${count?.keys} keys`;
  const goal = Math.max(1, (count?.messages ?? 0) / 1_000_000);
  return [
    {
      ...{
        what,
        against: 'PostgreSQL with fsync, on the same machine',
        goal: '2 min for 1,000,000 messages',
      },
      measured: `${seconds.toFixed(0)} s, ${rows} rows, copied and verified`,
      met: seconds < 120 * goal,
    },
    {
      ...{ what: `${what}, memory of the command`, against: '', goal: 'under 200 MB' },
      measured: `${peak.toFixed(0)} MB`,
      met: peak < 200,
    },
    {
      ...{ what: `${what}, on disk`, against: '', goal: 'none set' },
      measured: `folder ${MB(sizeOf(folder))}, database ${MB(await sizeOfDatabase(database))}`,
      met: true,
    },
  ];
}

/** A folder of many messages, moved to PostgreSQL on the same machine, and what its owner does with it afterwards. */
export async function move(): Promise<Row[]> {
  const root = mkdtempSync(join(tmpdir(), 'urtuu-bench-move-'));
  const machine = new Machine();
  const [folder, secretFile] = [join(root, 'service'), join(root, 'secret')];
  const bin = installed();
  if (bin === null) throw new Error('pg_dump is missing: apt-get install postgresql');
  await fillFolder(join(root, 'made'), 0, messages);
  // Copied: on Node.js 20 this process keeps the locks of a connection that it has closed.
  execFileSync('cp', ['-a', join(root, 'made'), folder]);
  rmSync(join(root, 'made'), { recursive: true });
  const cluster = await makeCluster(root, { bin, env: process.env }, durable);
  try {
    const place = { url: cluster.url, name: 'postgres', secretFile, bin, folder: root };
    const rows = await moveFolder(machine, folder, `${place.url}/${place.name}`, secretFile);
    rmSync(folder, { recursive: true });
    return [...rows, ...(await rehearse(machine, place))];
  } finally {
    await cluster.stop('fast');
    machine.remove();
    rmSync(root, { recursive: true, force: true });
  }
}
