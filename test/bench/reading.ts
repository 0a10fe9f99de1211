import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requestRates } from '../../src/contract/index.js';
import { Machine, type Outcome } from '../support/binary.js';
import type { Row } from './pairs.js';
import { numberOf } from './rows.js';
import { type RunningService, startService } from './service-process.js';

const ids = Number(process.env.URTUU_BENCH_IDS ?? 1_000);
const reportedRows = Number(process.env.URTUU_BENCH_REPORT_ROWS ?? 10_000);

/** Commands of one machine at one service. */
class Desk {
  readonly machine = new Machine();
  readonly #env: NodeJS.ProcessEnv;

  constructor({ url, key }: RunningService) {
    this.#env = { URTUU_BASE_URL: url, URTUU_API_KEY: key };
  }

  async run(...words: string[]): Promise<Outcome> {
    const outcome = await this.machine.run([...words, '-v'], { env: this.#env });
    if (outcome.code === 0) return outcome;
    throw new Error(`${words[0]} ended with ${outcome.code}: ${outcome.stderr.slice(-2_000)}`);
  }

  file(name: string, lines: readonly string[]): string {
    const path = join(this.machine.home, name);
    writeFileSync(path, `${lines.join('\n')}\n`);
    return path;
  }

  async lookUp(count: number): Promise<Outcome> {
    const { stdout } = await this.run('sms', 'send', '99112233', 'Hello', '--json');
    const { id } = JSON.parse(stdout) as { id: string };
    const file = this.file('ids.txt', Array<string>(count).fill(id));
    return this.run('messages', 'get', '--from-file', file, '-o', 'csv');
  }

  job(name: string, rows: number, text: string, ...options: string[]): Promise<Outcome> {
    const first = name === 'one' ? 0 : 500_000;
    const lines = Array.from({ length: rows }, (_, row) => `${numberOf(first + row)},${row % 1_200}`);
    const file = this.file(`${name}.csv`, ['phone,name', ...lines]);
    return this.run('sms', 'bulk', file, '--text', text, '--job', name, '--yes', ...options);
  }
}

const count = (outcomes: readonly Outcome[], what: RegExp) =>
  outcomes.reduce((sum, { stderr }) => sum + (stderr.match(what)?.length ?? 0), 0);

/** The share of an allowance that was used, first to last. */
const used = (kind: keyof typeof requestRates, requests: number, seconds: number) =>
  requests / (requestRates[kind].burst + requestRates[kind].perSecond * seconds);

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; seconds: number }> {
  const began = performance.now();
  return { value: await work(), seconds: (performance.now() - began) / 1_000 };
}

function rowOf(what: string, kind: keyof typeof requestRates, share: number, tooMany: number): Row {
  const { perSecond, burst } = requestRates[kind];
  return {
    what,
    against: `the allowance (${perSecond} requests/s, ${burst} burst)`,
    goal: '98 % of it used, no 429',
    measured: `${(share * 100).toFixed(1)} %, ${tooMany} x 429`,
    met: share >= 0.98 && tooMany === 0,
  };
}

async function threeLookUps(): Promise<Row> {
  await using service = await startService('enforced');
  const desk = new Desk(service);
  const { value, seconds } = await timed(() => Promise.all([1, 2, 3].map(() => desk.lookUp(ids))));
  desk.machine.remove();
  const share = used('reading', count(value, /GET /g), seconds);
  return rowOf(`look-up of ${ids} ids, three at once`, 'reading', share, count(value, /-> 429/g));
}

async function jobsAndLookUp(): Promise<Row> {
  await using service = await startService('enforced');
  const desk = new Desk(service);
  const { value, seconds } = await timed(async () => {
    const lookUp = desk.lookUp(ids / 4);
    const jobs = await Promise.all(['one', 'two'].map((name) => desk.job(name, ids, 'Hello {phone}')));
    return { jobs, lookUp: await lookUp };
  });
  desk.machine.remove();
  const all = [...value.jobs, value.lookUp];
  const share = used('sending', count(all, /POST /g), seconds);
  return rowOf(`two jobs of ${ids} requests, a look-up beside`, 'sending', share, count(all, /-> 429/g));
}

async function reportAgain(): Promise<Row> {
  await using service = await startService('off');
  const desk = new Desk(service);
  await desk.job('one', reportedRows, 'Hello {name}', '--rate', '100000', '--quiet');
  const first = await timed(() => desk.run('jobs', 'report', 'one'));
  const again = await timed(() => desk.run('jobs', 'report', 'one'));
  desk.machine.remove();
  return {
    what: `report of ${reportedRows} personalised rows, again`,
    against: 'the first time',
    goal: 'under 1 s',
    measured: `${again.seconds.toFixed(2)} s (first ${first.seconds.toFixed(1)} s)`,
    met: again.seconds < 1 && again.value.stdout === first.value.stdout,
  };
}

export async function reading(): Promise<Row[]> {
  return [await threeLookUps(), await jobsAndLookUp(), await reportAgain()];
}
