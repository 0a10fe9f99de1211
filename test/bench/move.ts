import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultProject } from '../../src/service/admin/projects.js';
import { openCore } from '../../src/service/core.js';
import { Machine, outcomeOf } from '../support/binary.js';
import { findBinaries } from '../support/postgres/binaries.js';
import { durable, makeCluster } from '../support/postgres/cluster.js';
import { query } from '../support/postgres.js';
import type { Row } from './pairs.js';

const messages = Number(process.env.URTUU_BENCH_MESSAGES ?? 1_000_000);
/** Each of a single SMS or of a batch. */
const keys = messages / 5;
const batchSize = 1_000;
const batches = Math.ceil((messages - keys) / (batchSize - 1));
const singles = keys - batches;
const callers = 64;

/** A folder with everything sent, and nothing open. */
async function makeFolder(root: string): Promise<string> {
  const made = join(root, 'made');
  const core = await openCore({ directory: made, rates: 'off' });
  await core.administration.credit(messages * 20);
  const caller = { projectId: defaultProject.id, keyId: 'bench' };
  let recipient = 0;
  /** Different ones, in no order, below the numbers that are answered with faults. */
  const next = () => `${88_000_000 + ((recipient++ * 7_919_993) % 10_900_000)}`;
  const text = 'Таны захиалга бэлэн боллоо.';
  for (let batch = 0; batch < batches; batch += 1) {
    const to = Array.from({ length: batchSize }, next);
    await core.operations.sendSmsBulk({ caller, params: { to, text }, idempotencyKey: randomUUID() });
    await core.administration.idle();
  }
  let left = singles;
  const call = async () => {
    for (; left > 0; ) {
      left -= 1;
      await core.operations.sendSms({ caller, params: { to: next(), text }, idempotencyKey: randomUUID() });
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  await core.close();
  // Copied: on Node.js 20 this process keeps the locks of a connection that it has closed.
  execFileSync('cp', ['-a', made, join(root, 'service')]);
  rmSync(made, { recursive: true });
  return join(root, 'service');
}

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

/** A folder of many messages, moved to PostgreSQL on the same machine by the command. */
export async function move(): Promise<Row[]> {
  const root = mkdtempSync(join(tmpdir(), 'urtuu-bench-move-'));
  const machine = new Machine();
  const folder = await makeFolder(root);
  const cluster = await makeCluster(root, findBinaries(root), durable);
  try {
    const database = `${cluster.url}/postgres`;
    const line = ['service', 'move', '--data', folder, '--database', database];
    const began = performance.now();
    const child = machine.start([...line, '--secret-file', join(root, 'secret'), '--yes', '-o', 'json']);
    let peak = 0;
    const timer = setInterval(() => {
      peak = Math.max(peak, peakOf(child.pid));
    }, 50);
    const { code, stdout, stderr } = await outcomeOf(child);
    clearInterval(timer);
    const seconds = (performance.now() - began) / 1_000;
    if (code !== 0) throw new Error(`the move ended with ${code}: ${stderr}`);
    const { rows } = JSON.parse(stdout) as { rows: number };
    const [size] = await query<{ size: string }>(
      database,
      'SELECT pg_database_size(current_database()) AS size',
    );
    const what = `service move: ${batches * batchSize + singles} messages, ${keys} keys`;
    const MB = (bytes: number) => (bytes / 1_000_000).toFixed(0);
    return [
      {
        ...{ what, against: 'PostgreSQL with fsync, on the same machine', goal: 'under 120 s' },
        measured: `${seconds.toFixed(0)} s, ${rows} rows, copied and verified`,
        met: seconds < 120,
      },
      {
        ...{ what: `${what}, memory of the command`, against: '', goal: 'under 200 MB' },
        measured: `${peak.toFixed(0)} MB`,
        met: peak < 200,
      },
      {
        ...{ what: `${what}, on disk`, against: '', goal: 'none set' },
        measured: `folder ${MB(sizeOf(folder))} MB, database ${MB(Number(size?.size))} MB`,
        met: true,
      },
    ];
  } finally {
    await cluster.stop('fast');
    machine.remove();
    rmSync(root, { recursive: true, force: true });
  }
}
