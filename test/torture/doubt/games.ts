import { JobState } from '../../../src/cli/bulk/job/job-state.js';
import { Journal } from '../../../src/cli/bulk/job/journal/journal.js';
import type { FrozenPlan } from '../../../src/cli/bulk/plan/plan.js';
import { runJob } from '../../../src/cli/bulk/send/runner.js';
import { judgeJob } from '../../../src/cli/commands/bulk/verdict.js';
import { MemoryDisk } from '../../cli/bulk/memory-disk.js';
import { memoryPlan, numbers } from '../../cli/bulk/memory-plan.js';
import { clientOf, ModelService, Refused } from '../../cli/bulk/model-service.js';
import { VirtualClock } from '../../cli/bulk/virtual-clock.js';
import { seededRandom } from '../../support/random.js';
import type { Played } from '../row.js';
import { lyingWay } from './lying-way.js';

/** The runner as it is, or broken on purpose. */
export type Sender = 'shipped' | 'forgets unanswered copies' | 'has keys of its own in each run';

interface Found {
  recipients: number;
  runs: number;
  twice: number;
  lost: number;
  /** Ended later than `--max-wait` allows. */
  late: number;
  /** Said not to be sent, or not to be in doubt, and it was otherwise. */
  lies: number;
}

const attemptTimeout = 1_000;
/** At least three tries, with their backoff, and one that is under way when the time is up. */
const slack = 4 * attemptTimeout + 2_000;

/** Plays the runner against a service in memory, on a way that delays, loses and lies; in virtual time. */
export async function playDoubt(seed: number, games: number, sender: Sender): Promise<Played> {
  const sum: Found = { recipients: 0, runs: 0, twice: 0, lost: 0, late: 0, lies: 0 };
  for (let game = 0; game < games; game += 1) {
    const found = await playGame(seededRandom(seed * 100_003 + game), sender);
    for (const name of Object.keys(sum) as (keyof Found)[]) sum[name] += found[name];
  }
  const { recipients, runs, twice, lost, late, lies } = sum;
  return {
    measured: `${games} games, ${runs} runs, ${recipients} recipients`,
    found: `${lost} lost, ${twice} twice, ${lies} said wrongly, ${late} ended too late`,
    wrong: lost + twice + late + lies,
  };
}

async function playGame(random: () => number, sender: Sender): Promise<Found> {
  const clock = new VirtualClock();
  const plan = planOf(random);
  const all = numbers(plan.meta.recipients);
  const service = new ModelService({ credits: 1_000_000 });
  const way = lyingWay(random, { now: clock.now, sleep: clock.sleep, timeout: attemptTimeout });
  const disk = new MemoryDisk();
  const found: Found = { recipients: all.length, runs: 0, twice: 0, lost: 0, late: 0, lies: 0 };
  let isDone = false;

  const play = async (maxWait: number) => {
    found.runs += 1;
    const state = new JobState(plan.meta);
    const journal = await Journal.open(disk, 'j', (entry) => state.apply(entry));
    const client = clientOf(service, async (call) => {
      try {
        return await way.carry(call);
      } catch (error) {
        const unanswered = error instanceof Refused && (error.status === null || error.status >= 500);
        if (!unanswered || sender !== 'forgets unanswered copies') throw error;
        throw new Refused('rate_limited', 429, { retryAfter: 0.2 });
      }
    });
    const abandon = new AbortController();
    if (random() < 0.2) void clock.sleep(random() * 5_000).then(() => abandon.abort());
    const run = runJob({
      jobId: sender === 'has keys of its own in each run' ? `job-${found.runs}` : 'job',
      plan,
      journal,
      state,
      client: { ...client, balance: { get: way.balance } },
      rateLimiter: { take: async (_, signal) => !signal?.aborted, block: () => {} },
      now: clock.now,
      wallTime: clock.now,
      sleep: clock.sleep,
      random,
      concurrency: 8,
      maxWait,
      abandon: abandon.signal,
    });
    const started = clock.time;
    const ending = await clock.run(endOf(run));
    if (clock.time - started > maxWait + slack) found.late += 1;
    const exit = judgeJob(state, ending).exit;
    isDone = state.finished;
    const accepted = (to: readonly string[]) => to.some((each) => service.accepted.has(each));
    const pending: string[] = [];
    for await (const { number, to } of plan.requests())
      if (state.phase(number) === 'pending') pending.push(...to);
    // What is said not to be sent must not be sent, nor be on its way.
    if (accepted(pending)) found.lies += 1;
    if (random() < 0.5) way.arriveAll();
    if (accepted(pending)) found.lies += 1;
    if (exit === 0 && !all.every((each) => service.accepted.has(each))) found.lies += 1;
    if (state.counts.in_doubt > 0 && exit !== 6) found.lies += 1;
  };

  const runs = 1 + Math.floor(random() * 4);
  for (let run = 0; run < runs; run += 1)
    await play([0, 1_000, 10_000, 60_000, 600_000][Math.floor(random() * 5)] ?? 0);
  way.calm();
  for (let run = 0; run < 3 && !isDone; run += 1) await play(60_000);
  way.arriveAll();
  for (const each of all) {
    const times = service.accepted.get(each) ?? 0;
    if (times > 1) found.twice += 1;
    if (times === 0 && !(await isRejected(disk, plan, each))) found.lost += 1;
  }
  return found;
}

function planOf(random: () => number): FrozenPlan {
  const sizes = [
    ...Array.from({ length: 1 + Math.floor(random() * 3) }, () => 2 + Math.floor(random() * 4)),
    ...Array.from({ length: Math.floor(random() * 4) }, () => 1),
  ];
  const left = numbers(sizes.reduce((sum, size) => sum + size, 0));
  return memoryPlan(sizes.map((size, index) => ({ to: left.splice(0, size), text: `text ${index}` })));
}

/** Whether the job knows that the service refused it for good, and has counted it so. */
async function isRejected(disk: MemoryDisk, plan: FrozenPlan, recipient: string): Promise<boolean> {
  const state = new JobState(plan.meta);
  await Journal.open(disk, 'j', (entry) => state.apply(entry));
  for await (const { number, to } of plan.requests()) {
    if (to.includes(recipient)) return state.phase(number) === 'rejected';
  }
  return false;
}

async function endOf<Result>(run: AsyncGenerator<unknown, Result>): Promise<Result> {
  for (;;) {
    const { value, done } = await run.next();
    if (done) return value;
  }
}
