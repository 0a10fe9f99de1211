import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Counts, outcomes } from '../../../../src/cli/bulk/job/counts.js';
import { JobState } from '../../../../src/cli/bulk/job/job-state.js';
import { Journal } from '../../../../src/cli/bulk/job/journal/journal.js';
import type { FrozenPlan } from '../../../../src/cli/bulk/plan/plan.js';
import type { Ending } from '../../../../src/cli/bulk/send/ending.js';
import { runJob } from '../../../../src/cli/bulk/send/runner.js';
import type { SendingClient } from '../../../../src/cli/bulk/send/send-once.js';
import { seededRandom } from '../../../support/random.js';
import { MemoryDisk } from '../memory-disk.js';
import { memoryPlan, numbers } from '../memory-plan.js';
import { clientOf, ModelService, Refused } from '../model-service.js';
import { VirtualClock } from '../virtual-clock.js';

const path = 'journal';

/** A run of the engine in a process of its own, which can die at any of its operations. */
interface Life {
  plan: FrozenPlan;
  jobId: string;
  disk: MemoryDisk;
  client: SendingClient;
  clock: VirtualClock;
  random: () => number;
  /** Dies at this operation; null lives to its end. */
  diesAt: number | null;
  powerCut?: boolean;
  concurrency?: number;
}

type End = { died: true } | { died: false; ending: Ending; counts: Counts };

async function live(life: Life): Promise<End> {
  const { plan, clock, disk, client } = life;
  let operations = 0;
  let die: () => void = () => {};
  const death = new Promise<End>((resolve) => {
    die = () => resolve({ died: true });
  });
  // A dead process does nothing: whatever it waits for never comes.
  const step = (): Promise<void> => {
    operations += 1;
    if (life.diesAt === null || operations < life.diesAt) return Promise.resolve();
    die();
    return new Promise(() => {});
  };
  const own = new MemoryDisk();
  own.before = step;
  for (const [name, file] of disk.files) own.files.set(name, file);
  const mortalClient: SendingClient = {
    ...client,
    async send(request) {
      await step();
      const answer = await client.send(request).then(
        (result) => ({ result }),
        (error) => ({ error }),
      );
      await step();
      if ('error' in answer) throw answer.error;
      return answer.result;
    },
  };
  const work = async (): Promise<End> => {
    const state = new JobState(plan.meta);
    const journal = await Journal.open(own, path, (entry) => state.apply(entry));
    const run = runJob({
      jobId: life.jobId,
      plan,
      journal,
      state,
      client: mortalClient,
      rateLimiter: { take: async (_, signal) => !signal?.aborted, block: () => {} },
      now: clock.now,
      wallTime: clock.now,
      sleep: clock.sleep,
      random: life.random,
      concurrency: life.concurrency ?? 4,
      maxWait: 600_000,
    });
    for (;;) {
      const { value, done } = await run.next();
      if (done) return { died: false, ending: value, counts: { ...state.counts } };
      expectConserved(value.counts);
    }
  };
  const end = await clock.run(Promise.race([work(), death]));
  clock.forget();
  for (const [name, file] of own.files) disk.files.set(name, { ...file });
  if (end.died && life.powerCut) disk.cutPower(life.random);
  return end;
}

function expectConserved(counts: Counts): void {
  const figures = outcomes.map((name) => counts[name]);
  const sum = figures.reduce((one, other) => one + other, 0);
  expect([sum, counts.accepted], JSON.stringify(counts)).toEqual([
    counts.planned,
    counts.sent + counts.unknown + counts.queued,
  ]);
  expect(Math.min(...figures), JSON.stringify(counts)).toBeGreaterThanOrEqual(0);
}

/** The way to the service: drops before and after, timeouts, 5xx, garbage, 429s, copies that arrive late. */
function hostile(random: () => number, faults: () => number, late: (() => object)[]) {
  return async (call: () => object): Promise<object> => {
    // An earlier copy arrives now, out of order.
    if (late.length > 0 && random() < 0.3) {
      try {
        late.shift()?.();
      } catch {}
    }
    if (random() >= faults()) return call();
    const kind = Math.floor(random() * 9);
    // Nothing of it is true, and the balance that is read says so.
    if (kind === 7) throw new Refused('insufficient_credits', 402, { balance: 0, required: 10 });
    if (kind === 8) throw new Refused('unauthorized', 401);
    if (kind === 0) throw new Refused('connection_error', null);
    if (kind === 1) throw new Refused('rate_limited', 429, { retryAfter: 1 });
    if (kind === 2) throw new Refused('unexpected_response', 403);
    if (kind === 3) {
      late.push(call);
      throw new Refused('timeout', null);
    }
    try {
      call();
    } catch {}
    if (kind === 4) throw new Refused('unavailable', 503);
    if (kind === 5) return { hello: 'I am a proxy' };
    throw new Refused('timeout', null);
  };
}

const scenario = fc.record({
  binding: fc.boolean(),
  batches: fc.array(fc.integer({ min: 2, max: 130 }), { maxLength: 4 }),
  singles: fc.integer({ min: 0, max: 12 }),
  deaths: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 8 }),
  powerCut: fc.boolean(),
  loseJournal: fc.boolean(),
  unsupported: fc.double({ min: 0, max: 1, noNaN: true }),
  failing: fc.double({ min: 0, max: 0.4, noNaN: true }),
  capped: fc.double({ min: 0, max: 0.4, noNaN: true }),
  funded: fc.double({ min: 0, max: 1, noNaN: true }),
  faults: fc.double({ min: 0, max: 0.5, noNaN: true }),
  seed: fc.integer(),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer Value> ? Value : never;

async function play(game: Scenario, jobIdOf: (life: number) => string) {
  const random = seededRandom(game.seed);
  const all = numbers(game.batches.reduce((sum, size) => sum + size, game.singles));
  const left = [...all];
  const take = (count: number) => left.splice(0, count);
  const plan = memoryPlan([
    ...game.batches.map((size, index) => ({ to: take(size), text: `batch ${index}` })),
    ...Array.from({ length: game.singles }, (_, index) => ({ to: take(1), text: `single ${index}` })),
  ]);
  const some = (share: number) => all.filter(() => random() < share);
  const unsupported = new Set(some(game.unsupported * random()));
  const singles = new Set(all.slice(all.length - game.singles));
  const failing = new Set(some(game.failing).filter((each) => singles.has(each) && !unsupported.has(each)));
  const capped = new Map(some(game.capped).map((each) => [each, 1 + Math.floor(random() * 3)]));
  const credits = Math.floor(all.length * 10 * game.funded);
  const service = new ModelService({ binding: game.binding, credits, unsupported, failing, capped });
  const late: (() => object)[] = [];
  let faults = game.faults;
  const client = clientOf(
    service,
    hostile(random, () => faults, late),
  );
  const clock = new VirtualClock();
  const disk = new MemoryDisk();
  const life = (number: number, diesAt: number | null) =>
    live({ plan, jobId: jobIdOf(number), disk, client, clock, random, diesAt, powerCut: game.powerCut });
  for (const [number, diesAt] of game.deaths.entries()) {
    await life(number, diesAt);
    if (game.loseJournal && random() < 0.3) disk.files.clear();
  }
  service.balance += all.length * 10;
  faults = 0;
  let end: End = { died: true };
  // A person runs the same command again, as long as it says that something is left.
  for (let number = game.deaths.length; number < game.deaths.length + 4; number += 1) {
    end = await life(number, null);
    if (!end.died && end.counts.pending + end.counts.in_doubt === 0) break;
  }
  for (const copy of late.splice(0)) {
    try {
      copy();
    } catch {}
  }
  return { service, all, unsupported, failing, end };
}

describe('a job in a hostile world', () => {
  it('accepts every recipient exactly once, whatever dies, and its figures are those of the service', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (game) => {
        const { service, all, unsupported, failing, end } = await play(game, () => 'job');
        const missing: string[] = [];
        for (const each of all) {
          const expected = unsupported.has(each) || failing.has(each) ? 0 : 1;
          const times = service.accepted.get(each) ?? 0;
          if (times < expected) missing.push(each);
          else expect([each, times]).toEqual([each, expected]);
        }
        // Where an outdated refusal is bound to a key that a copy without an answer keeps, there is no way on.
        if (!game.binding) expect(missing).toEqual([]);
        if (end.died) throw new Error('the last process died');
        const { planned, accepted, rejected, failed, in_doubt, pending } = end.counts;
        expect(in_doubt + pending).toBeGreaterThanOrEqual(missing.length);
        if (!game.binding) expect({ in_doubt, pending }).toEqual({ in_doubt: 0, pending: 0 });
        if (in_doubt + pending === 0) {
          expect(end.ending.stopped).toBeNull();
          expect({ planned, accepted, rejected, failed }).toEqual({
            planned: all.length,
            accepted: all.length - unsupported.size - failing.size,
            rejected: unsupported.size,
            failed: failing.size,
          });
        }
      }),
      { numRuns: Number(process.env.URTUU_SIMULATIONS ?? 150) },
    );
  });

  it('sends twice when a process makes up its own keys: the control that shows the harness can fail', async () => {
    let twice = 0;
    const game = { batches: [20, 20], singles: 8, deaths: [9, 14, 22, 30], powerCut: false, unsupported: 0 };
    for (let seed = 0; seed < 20; seed += 1) {
      const { service } = await play(
        { ...game, binding: false, loseJournal: false, failing: 0, capped: 0, funded: 1, faults: 0.4, seed },
        (life) => `${seed}-${life}`,
      );
      twice += [...service.accepted.values()].filter((times) => times > 1).length;
    }
    expect(twice).toBeGreaterThan(100);
  });
});
