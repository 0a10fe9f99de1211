// Rows to plan, against csv-parse alone: cpu of whole processes.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { inPairs, type Row } from './pairs.js';

export interface Measured {
  rows: number;
  /** Milliseconds, user and system. */
  cpu: number;
  /** MiB. */
  rss: number;
}

const prefixes = [
  '99',
  '88',
  '91',
  '93',
  '95',
  '86',
  '96',
  '98',
  '94',
  '80',
  '90',
  '83',
  '85',
  '89',
  '92',
  '97',
];

/** The number in a row of the list: different ones, in no order. */
export function numberOf(row: number): string {
  return `${prefixes[row % 16]}${String((row * 7_919) % 1_000_000).padStart(6, '0')}`;
}

/** A list of different recipients in no order: 3 columns, 25 bytes a row. */
export function writeList(path: string, rows: number, column: 'phone' | 'email'): void {
  const file = openSync(path, 'w');
  let text = `${column},name,amount\n`;
  for (let row = 0; row < rows; row += 1) {
    const number = numberOf(row);
    text += `${column === 'phone' ? number : `u${number}@example.mn`},Бат${row % 1_000},${(row * 37) % 100_000}\n`;
    if (text.length > 1_000_000) {
      writeSync(file, text);
      text = '';
    }
  }
  writeSync(file, text);
  closeSync(file);
}

/** Bundles the work of a tree, as it ships, and returns how to run one piece of it. */
export async function rowsWork(folder: string, nodeOptions: string[] = [], tree = '.') {
  const sources = ['rows-work', 'jobs-work'].map((name) => resolve(tree, `test/bench/${name}.ts`));
  await build({
    // An older tree may have the first one alone.
    entryPoints: sources.filter((source) => existsSync(source)),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
  return (
    work: 'parse' | 'sms' | 'email' | 'report' | 'jobs' | 'beside',
    file: string,
    text = '',
  ): Measured => {
    const plan = join(folder, 'plan');
    const isOfJobs = work === 'report' || work === 'jobs' || work === 'beside';
    const program = join(folder, isOfJobs ? 'jobs-work.mjs' : 'rows-work.mjs');
    const result = execFileSync(process.execPath, [...nodeOptions, program, work, file, plan, text], {
      encoding: 'utf8',
    });
    rmSync(plan, { recursive: true, force: true });
    return JSON.parse(result) as Measured;
  };
}

export async function rows(count = 1_000_000, pairs = 5): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-bench-rows-'));
  try {
    const run = await rowsWork(folder);
    const phones = join(folder, 'phones.csv');
    const emails = join(folder, 'emails.csv');
    writeList(phones, count, 'phone');
    writeList(emails, count, 'email');
    const constant = 'Сайн байна уу! Таны захиалга ирлээ.';
    const personal = 'Сайн байна уу, {name} {phone}: таны төлбөр {amount} төгрөг боллоо. Баярлалаа!';
    const cases = [
      { name: 'SMS, constant text', work: 'sms', file: phones, text: constant, goal: [1.4, 66] },
      { name: 'SMS, 1,000 texts', work: 'sms', file: phones, text: 'Сайн байна уу, {name}', goal: null },
      { name: 'SMS, a text for each', work: 'sms', file: phones, text: personal, goal: [3.5, 100] },
      { name: 'email, constant text', work: 'email', file: emails, text: constant, goal: null },
    ] as const;
    const table: Row[] = [];
    for (const { name, work, file, text, goal } of cases) {
      let rss = 0;
      const plan = async () => {
        const measured = run(work, file, text);
        rss = Math.max(rss, measured.rss);
        return measured.cpu;
      };
      const { ratio, a, b } = await inPairs(plan, async () => run('parse', file).cpu, pairs);
      table.push({
        what: `rows to plan: ${count} rows, ${name}`,
        against: "csv-parse alone, arrays, 'data' events",
        goal: goal === null ? 'none set' : `${goal[0]} x its cpu, ${goal[1]} MiB`,
        measured: `${ratio.toFixed(2)} (${a.toFixed(0)} ms to ${b.toFixed(0)} ms), ${rss.toFixed(0)} MiB`,
        met: goal === null || (ratio <= goal[0] && rss < goal[1] + 1),
      });
    }
    return [...table, repeated(run, folder, count), beside(run, phones)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A list in which four of five rows repeat a recipient. */
function repeated(run: Awaited<ReturnType<typeof rowsWork>>, folder: string, recipients: number): Row {
  const file = join(folder, 'repeated.csv');
  writeList(file, recipients, 'phone');
  const list = readFileSync(file);
  const rows = list.subarray(list.indexOf('\n') + 1);
  for (let copy = 0; copy < 4; copy += 1) appendFileSync(file, rows);
  const { cpu, rss } = run('sms', file, 'Сайн байна уу! Таны захиалга ирлээ.');
  return {
    what: `rows to plan: ${recipients * 5} rows, 4 in 5 repeated`,
    against: '',
    goal: '100 MB',
    measured: `${((rss * 2 ** 20) / 1e6).toFixed(0)} MB (${cpu.toFixed(0)} ms)`,
    met: rss * 2 ** 20 < 100e6,
  };
}

/** Beside seven jobs of the same week that have sent the same list. */
function beside(run: Awaited<ReturnType<typeof rowsWork>>, list: string): Row {
  const text = 'Сайн байна уу! Таны захиалга ирлээ.';
  const { rows: count } = run('jobs', list, text);
  const { rows: sent, cpu, rss } = run('beside', list, text);
  return {
    what: `rows to plan: ${count} rows beside seven jobs of ${count}`,
    against: '',
    goal: '100 MiB',
    measured: `${rss.toFixed(0)} MiB (${cpu.toFixed(0)} ms)`,
    met: rss < 101 && sent === count,
  };
}
