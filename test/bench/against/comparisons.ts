import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Machine } from '../../support/binary.js';
import { durable, makeCluster } from '../../support/postgres/cluster.js';
import { cpuOf, cpuOfFamily, cpuOfProcess } from '../cpu.js';
import { numberOf, rowsWork, writeList } from '../rows.js';
import { postRate } from '../service-http.js';
import { type RunningService, startService } from '../service-process.js';
import { answeringService, freshKey } from '../start.js';
import { core, sideOf } from './bundles.js';
import { carrierComparisons } from './carriers.js';
import type { Comparison, Side } from './sides.js';

const text = 'Сайн байна уу, {name} {phone}: таны төлбөр {amount} төгрөг боллоо. Баярлалаа!';
/** The core of the service takes 30,000 sends until its code is compiled, and serves for days. */
const sliced = { pairs: 5, slices: 6, warm: 4 };
/** Whole processes: only the first slice, which fills caches, does not count. */
const whole = { pairs: 1, slices: 15, warm: 1 };
/** Starts are short, and 15 slices cannot tell 4 % from 7 %. */
const starts = { pairs: 1, slices: 40, warm: 1 };

const workerRow = (what: string, kind: string, bundleOf: (tree: string) => Promise<string>): Comparison => ({
  what,
  ...sliced,
  open: (tree) => sideOf(kind, bundleOf(tree)),
});

const client = async (tree: string) => join(tree, 'dist/client/index.cjs');

/** The worker and its PostgreSQL, whose functions do a part of the work; each side has a server of its own. */
const databaseRow = (what: string, kind: string): Comparison => ({
  what,
  pairs: 3,
  slices: 12,
  warm: 4,
  async open(tree) {
    const folder = mkdtempSync(join(tmpdir(), 'urtuu-bench-against-'));
    const cluster = await makeCluster(folder, undefined, durable);
    const pid = Number(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n')[0]);
    const side = await sideOf(kind, core(tree), `${cluster.url}/postgres`);
    return {
      async measure() {
        const before = cpuOfFamily(pid);
        const own = await side.measure();
        return own + cpuOfFamily(pid) - before;
      },
      async close() {
        await side.close();
        await cluster.stop('immediate');
        rmSync(folder, { recursive: true });
      },
    };
  },
});

/** Ends when a process has taken next to nothing for a while: the service works on after a job has ended. */
async function atRest(pid: number): Promise<void> {
  for (let last = cpuOfProcess(pid), quiet = 0; quiet < 3; ) {
    await setTimeout(150);
    const now = cpuOfProcess(pid);
    quiet = now - last <= 10 ? quiet + 1 : 0;
    last = now;
  }
}

/** The cpu of the service, whose requests come from this process. */
async function postingSide(tree: string): Promise<Side> {
  const service = await startService('off', tree);
  let recipient = 99_100_000;
  return {
    async measure() {
      const before = cpuOfProcess(service.pid);
      await postRate(service, '/sms', 1_600, 16, () => ({ to: `${recipient++}`, text: 'Сайн байна уу' }));
      return cpuOfProcess(service.pid) - before;
    },
    close: async () => service[Symbol.asyncDispose](),
  };
}

/** Runs of the real command against a loopback server that answers like the service. */
function startRow(words: string, args: (run: number) => string[]): Comparison {
  return {
    what: `urtuu ${words}`,
    ...starts,
    async open(tree) {
      const machine = new Machine();
      const server = await answeringService();
      const url = `${server.origin}/v1`;
      const env = machine.environment({ URTUU_BASE_URL: url, LC_ALL: 'C' });
      let run = 0;
      return {
        measure() {
          const words = [join(tree, 'bin/urtuu.js'), ...args(run++)];
          return cpuOf(words, { cwd: tree, env: { ...env, ...freshKey() }, runs: 5 });
        },
        async close() {
          machine.remove();
          await server[Symbol.asyncDispose]();
        },
      };
    },
  };
}

const send = (run: number, ...options: string[]) => [
  'sms',
  'send',
  `${99_110_000 + run}`,
  'hello',
  ...options,
];

/** A list of so many rows through `buildPlan`, a process each time. */
function planRow(what: string, work: 'sms' | 'email', template: string, copies = 1): Comparison {
  const count = 300_000;
  return {
    what: `rows to plan: ${what}`,
    ...whole,
    async open(tree) {
      const folder = mkdtempSync(join(tmpdir(), 'urtuu-bench-rows-'));
      const run = await rowsWork(folder, [], tree);
      const file = join(folder, 'list.csv');
      writeList(file, count / copies, work === 'sms' ? 'phone' : 'email');
      if (copies > 1) {
        const list = readFileSync(file, 'utf8');
        writeFileSync(file, list + list.slice(list.indexOf('\n') + 1).repeat(copies - 1));
      }
      return {
        measure: async () => run(work, file, template).cpu,
        close: async () => rmSync(folder, { recursive: true }),
      };
    },
  };
}

interface Desk {
  /** Removes the state of the command: a job looks into those before it. The service still knows their names. */
  forget(): void;
  file(lines: string[]): string;
  run(words: string[]): Promise<number>;
  service: RunningService;
}

/** The id of an SMS that a service has sent. */
async function sentBy({ url, key }: RunningService, index: number): Promise<string> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ to: numberOf(index), text: 'Hello' });
  const { id } = (await (await fetch(`${url}/sms`, { method: 'POST', headers, body })).json()) as {
    id: string;
  };
  return id;
}

/** The command of a tree at the service of this one, which is the same for both. */
function commandRow(
  what: string,
  slices: number,
  wordsOf: (desk: Desk) => Promise<(run: number) => string[]>,
): Comparison {
  return {
    what: `command: ${what}`,
    pairs: 1,
    slices,
    warm: 1,
    async open(tree) {
      const service = await startService('off');
      const machine = new Machine();
      const env = machine.environment({ URTUU_BASE_URL: service.url, URTUU_API_KEY: service.key });
      const run = (words: string[]) =>
        cpuOf([join(tree, 'bin/urtuu.js'), ...words], { cwd: tree, env, runs: 1 });
      const file = (lines: string[]) => {
        const path = join(machine.home, 'list.csv');
        writeFileSync(path, `${lines.join('\n')}\n`);
        return path;
      };
      const forget = () => rmSync(join(machine.home, 'state'), { recursive: true, force: true });
      const words = await wordsOf({ file, run, service, forget });
      let count = 0;
      return {
        async measure() {
          const cpu = await run(words(count++));
          await atRest(service.pid);
          return cpu;
        },
        async close() {
          machine.remove();
          await service[Symbol.asyncDispose]();
        },
      };
    },
  };
}

const job = (file: string, name: string, template: string) => [
  'sms',
  'bulk',
  file,
  '--text',
  template,
  '--job',
  name,
  '--yes',
  '--rate',
  '100000',
  '--quiet',
];
/** Of other recipients in every run: a cap of a recipient would be waited for. */
const listOf = (rows: number, run = 0) => [
  'phone,name,amount',
  ...Array.from({ length: rows }, (_, row) => `${numberOf(run * rows + row)},Бат,${row}`),
];

export const comparisons: Record<string, readonly Comparison[]> = {
  start: [
    startRow('--version', () => ['--version']),
    startRow('--help', () => ['--help']),
    startRow('sms send --help', () => ['sms', 'send', '--help']),
    startRow('balance', () => ['balance']),
    startRow('sms send', (run) => send(run)),
    startRow('balance --sandbox', () => ['balance', '--sandbox']),
    startRow('sms send --sandbox', (run) => send(run, '--sandbox')),
  ],
  client: [
    workerRow('client sms.send', 'sms.send', client),
    workerRow('client balance.get', 'balance.get', client),
  ],
  rows: [
    planRow('constant text', 'sms', 'Сайн байна уу! Таны захиалга ирлээ.'),
    planRow('1,000 texts', 'sms', 'Сайн байна уу, {name}'),
    planRow('a text for each', 'sms', text),
    planRow('email, constant text', 'email', 'Сайн байна уу! Таны захиалга ирлээ.'),
    planRow('4 in 5 repeated', 'sms', 'Сайн байна уу! Таны захиалга ирлээ.', 5),
  ],
  bulk: [
    commandRow('a job of 100,000 rows, constant text', 25, async ({ file, forget }) => {
      return (run) => {
        forget();
        return job(file(listOf(100_000, run)), `job-${run}`, 'Сайн байна уу');
      };
    }),
    commandRow('a job of 2,000 rows, a text for each', 5, async ({ file, forget }) => {
      return (run) => {
        forget();
        return job(file(listOf(2_000, run)), `job-${run}`, text);
      };
    }),
  ],
  reading: [
    commandRow('look-up of 60 ids', 12, async ({ file, service }) => {
      const ids = await Promise.all(Array.from({ length: 60 }, (_, index) => sentBy(service, index)));
      const path = file(ids);
      return () => ['messages', 'get', '--from-file', path, '-o', 'csv'];
    }),
    commandRow('report of 60 personalised rows, again', 12, async ({ file, run }) => {
      await run(job(file(listOf(60)), 'job', text));
      return () => ['jobs', 'report', 'job'];
    }),
  ],
  http: [{ what: 'service: POST /v1/sms, 16 connections', pairs: 5, slices: 20, warm: 4, open: postingSide }],
  core: [
    workerRow('service: one SMS, 16 at once, without HTTP', 'sms', core),
    workerRow('service: one email, 16 at once, without HTTP', 'email', core),
    workerRow('service: a batch of 1,000 to completed', 'batch', core),
  ],
  postgres: [
    databaseRow('PostgreSQL: one SMS, 16 at once, without HTTP', 'sms'),
    databaseRow('PostgreSQL: one email, 16 at once, without HTTP', 'email'),
    databaseRow('PostgreSQL: a batch of 1,000 to completed', 'batch'),
  ],
  ...carrierComparisons,
};
