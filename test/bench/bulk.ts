import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { maxBatchRecipients, requestRates } from '../../src/contract/index.js';
import { Machine, outcomeOf } from '../support/binary.js';
import { inPairs, type Row } from './pairs.js';
import { numberOf, writeList } from './rows.js';
import { postRate } from './service-http.js';
import { type RunningService, startService } from './service-process.js';

interface Job {
  requests: number;
  tooMany: number;
  /** Seconds from the first request's answer to the last's. */
  seconds: number;
}

const recipients = Number(process.env.URTUU_BENCH_RECIPIENTS ?? 1_000_000);

/** The real command and the real service over loopback, until every recipient is accepted. */
async function accept(file: string, service: RunningService, options: readonly string[]): Promise<Job> {
  const machine = new Machine();
  const env = { URTUU_BASE_URL: service.url, URTUU_API_KEY: service.key };
  const child = machine.start(['sms', 'bulk', file, '--text', 'Сайн байна уу', '--yes', '-v', ...options], {
    env,
  });
  let tooMany = 0;
  const answered: number[] = [];
  if (child.stderr === null) throw new Error('no standard error');
  createInterface(child.stderr).on('line', (line) => {
    const status = /^POST .*\/sms(?:\/bulk)? -> (\d+)/.exec(line)?.[1];
    if (status === '429') tooMany += 1;
    else if (status !== undefined) answered.push(performance.now());
  });
  const outcome = await outcomeOf(child);
  machine.remove();
  if (outcome.code !== 0)
    throw new Error(`the job ended with ${outcome.code}: ${outcome.stderr.slice(-2_000)}`);
  const seconds = ((answered.at(-1) ?? 0) - (answered[0] ?? 0)) / 1_000;
  return { requests: answered.length, tooMany, seconds };
}

/**
 * Recipients a second with no allowance, the command's and a bare client's that posts the same list in the same
 * order: numbers in a row would be stored faster. Each has a service of its own, for what one has accepted is
 * delivered while the next sends.
 */
async function lifted(file: string) {
  const command = async () => {
    await using service = await startService('off');
    const { requests, seconds } = await accept(file, service, ['--rate', '100000']);
    return (requests * maxBatchRecipients) / seconds;
  };
  const bare = async () => {
    await using service = await startService('off');
    const batch = (index: number) => ({
      to: Array.from({ length: maxBatchRecipients }, (_, entry) =>
        numberOf(index * maxBatchRecipients + entry),
      ),
      text: 'Сайн байна уу',
    });
    const batches = Math.floor(recipients / maxBatchRecipients);
    return maxBatchRecipients * (await postRate(service, '/sms/bulk', batches, 8, batch));
  };
  return inPairs(command, bare, 3);
}

export async function bulk(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-bench-bulk-'));
  const file = join(folder, 'people.csv');
  const { perSecond, burst } = requestRates.sending;
  writeList(file, recipients, 'phone');
  try {
    await using paced = await startService('enforced');
    const job = await accept(file, paced, []);
    const used = job.requests / (burst + perSecond * job.seconds);
    const fast = await lifted(file);
    return [
      {
        what: `${recipients} recipients accepted over loopback`,
        against: `the allowance (${perSecond} requests/s, ${burst} burst)`,
        goal: '98 % of it used, no 429',
        measured: `${(used * 100).toFixed(1)} % in ${job.seconds.toFixed(1)} s, ${job.tooMany} x 429`,
        met: used >= 0.98 && job.tooMany === 0,
      },
      {
        what: 'the same with the rate lifted',
        against: 'a bare HTTP client that posts batches',
        goal: 'as fast: 0.9 of its rate',
        measured: `${fast.ratio.toFixed(2)} (${Math.round(fast.a)}/s to ${Math.round(fast.b)}/s)`,
        met: fast.ratio >= 0.9,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
