/**
 * Rows to plan, against csv-parse alone: cpu of whole processes, medians of interleaved runs.
 *   npx esbuild test/bench/rows.ts --bundle --platform=node --external:esbuild --format=esm \
 *     --outfile=dist/bench/rows.js && node dist/bench/rows.js
 */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

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

/** A list of different recipients in no order: 3 columns, 25 bytes a row. */
export function writeList(path: string, rows: number, column: 'phone' | 'email'): void {
  const file = openSync(path, 'w');
  let text = `${column},name,amount\n`;
  for (let row = 0; row < rows; row += 1) {
    const number = `${prefixes[row % 16]}${String((row * 7_919) % 1_000_000).padStart(6, '0')}`;
    text += `${column === 'phone' ? number : `u${number}@example.mn`},Бат${row % 1_000},${(row * 37) % 100_000}\n`;
    if (text.length > 1_000_000) {
      writeSync(file, text);
      text = '';
    }
  }
  writeSync(file, text);
  closeSync(file);
}

/** Bundles the work, as it ships, and returns how to run one piece of it. */
export async function rowsWork(folder: string, nodeOptions: string[] = []) {
  const outfile = join(folder, 'rows-work.mjs');
  await build({
    entryPoints: [resolve('test/bench/rows-work.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
  return (work: 'parse' | 'sms' | 'email', file: string, text = ''): Measured => {
    const plan = join(folder, 'plan');
    const result = execFileSync(process.execPath, [...nodeOptions, outfile, work, file, plan, text], {
      encoding: 'utf8',
    });
    rmSync(plan, { recursive: true, force: true });
    return JSON.parse(result) as Measured;
  };
}

const median = (values: number[]) => values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;

export async function benchRows(
  rows = 1_000_000,
  runs = 5,
  print = (line: string) => void process.stdout.write(line),
) {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-bench-rows-'));
  try {
    const run = await rowsWork(folder);
    const phones = join(folder, 'phones.csv');
    const emails = join(folder, 'emails.csv');
    writeList(phones, rows, 'phone');
    writeList(emails, rows, 'email');
    const constant = 'Сайн байна уу! Таны захиалга ирлээ.';
    const personal = 'Сайн байна уу, {name} {phone}: таны төлбөр {amount} төгрөг боллоо. Баярлалаа!';
    const cases = [
      { name: 'SMS, one text', work: 'sms', file: phones, text: constant },
      { name: 'SMS, 1,000 texts', work: 'sms', file: phones, text: 'Сайн байна уу, {name}' },
      { name: 'SMS, a text for each', work: 'sms', file: phones, text: personal },
      { name: 'email, one text', work: 'email', file: emails, text: constant },
    ] as const;
    for (const { name, work, file, text } of cases) {
      const pairs = Array.from({ length: runs }, () => ({
        alone: run('parse', file),
        plan: run(work, file, text),
      }));
      const ratio = median(pairs.map(({ alone, plan }) => plan.cpu / alone.cpu));
      const alone = median(pairs.map((pair) => pair.alone.cpu));
      const cpu = median(pairs.map(({ plan }) => plan.cpu));
      const rss = Math.max(...pairs.map(({ plan }) => plan.rss));
      print(
        `${name}: ${rows} rows, ${ratio.toFixed(2)} x csv-parse alone ` +
          `(${cpu.toFixed(0)} ms cpu, ${alone.toFixed(0)} ms alone), ${rss.toFixed(0)} MiB\n`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1]?.endsWith('/bench/rows.js')) await benchRows();
