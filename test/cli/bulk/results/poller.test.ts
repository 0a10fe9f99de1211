import { describe, expect, it } from 'vitest';
import { outcomes } from '../../../../src/cli/bulk/job/counts.js';
import { JobState } from '../../../../src/cli/bulk/job/job-state.js';
import type { Entry } from '../../../../src/cli/bulk/job/journal/entries.js';
import { Journal } from '../../../../src/cli/bulk/job/journal/journal.js';
import { Poller, type PollerOptions } from '../../../../src/cli/bulk/results/poller.js';
import type { BulkEvent } from '../../../../src/cli/bulk/send/events.js';
import type { RunOptions } from '../../../../src/cli/bulk/send/run.js';
import { runJob } from '../../../../src/cli/bulk/send/runner.js';
import { memoryBuckets } from '../../../../src/cli/rate-limit/bucket-store.js';
import { RateLimiter } from '../../../../src/cli/rate-limit/rate-limiter.js';
import { MemoryDisk } from '../memory-disk.js';
import { memoryPlan, numbers } from '../memory-plan.js';
import { clientOf, ModelService, Refused } from '../model-service.js';
import { VirtualClock } from '../virtual-clock.js';

type Progress = { total: number; sent: number; failed: number };

/** A job of batches of two, at a service that sends a batch in `takes` milliseconds, evenly. */
function setting(batches: number, takes: number) {
  const all = numbers(batches * 2);
  const plan = memoryPlan(
    Array.from({ length: batches }, (_, at) => ({ to: all.slice(at * 2, at * 2 + 2), text: `${at}` })),
  );
  const service = new ModelService({ credits: 1_000_000 });
  const clock = new VirtualClock();
  const started = clock.time;
  const disk = new MemoryDisk();
  const acceptedAt = new Map<string, number>();
  const reads: { id: string; at: number; age: number }[] = [];
  const sends: number[] = [];
  const sending = clientOf(service, async (call) => {
    const answer = call() as { id: string };
    sends.push(clock.time);
    acceptedAt.set(answer.id, clock.time);
    await clock.sleep(20);
    return answer;
  });
  const look = (id: string): Progress => {
    const age = clock.time - (acceptedAt.get(id) ?? 0);
    reads.push({ id, at: clock.time - started, age });
    return { total: 2, sent: Math.min(2, Math.floor((2 * age) / takes)), failed: 0 };
  };
  const reading = (answer: (id: string) => Progress = look): PollerOptions['client'] => ({
    batches: {
      async get(id) {
        await clock.sleep(20);
        const figures = answer(id);
        const isDone = figures.sent + figures.failed === figures.total;
        const created = acceptedAt.get(id) ?? 0;
        return {
          id,
          ...figures,
          channel: 'sms',
          status: isDone ? 'completed' : 'processing',
          credits: 20,
          created_at: new Date(created).toISOString(),
          completed_at: isDone ? new Date(created + takes).toISOString() : null,
        };
      },
      messages: () => Promise.reject(new Error('nothing has failed')),
    },
    messages: { get: () => Promise.reject(new Error('no single message is waited for')) },
  });
  const run = async (client = reading(), extra: Partial<RunOptions> = {}, timeout = 600_000) => {
    const state = new JobState(plan.meta);
    const journal = await Journal.open(disk, 'j', (entry) => state.apply(entry));
    const rateLimiter = new RateLimiter({ buckets: memoryBuckets(), clock });
    const events: BulkEvent[] = [];
    const work = async () => {
      const job = runJob({
        ...{ jobId: 'job', plan, journal, state, client: sending, rateLimiter },
        ...{ now: clock.now, wallTime: clock.now, sleep: clock.sleep },
        ...{ random: () => 0.5, concurrency: 8, maxWait: 600_000 },
        openPoller: (run) =>
          new Poller(
            {
              ...{ plan, state, client, rateLimiter, timeout },
              ...{ now: clock.now, sleep: clock.sleep, after: clock.after },
            },
            run,
          ),
        ...extra,
      });
      for (;;) {
        const { value, done } = await job.next();
        if (done) return value;
        events.push(value);
      }
    };
    const ending = await clock.run(work());
    return { ending, events, state, seconds: (clock.time - started) / 1_000 };
  };
  const finals = async () => {
    const found: Entry[] = [];
    await Journal.open(disk, 'j', (entry) => void (entry.type === 'final' && found.push(entry)));
    return found;
  };
  return { run, reading, look, reads, sends, finals, started, disk };
}

describe('waiting for the end of what is accepted', () => {
  it('goes on while others are sent: as long as the slower of the two allowances, each batch read once', async () => {
    const { run, reads, sends, started, finals } = setting(300, 300);
    const { ending, state, seconds } = await run();
    expect(ending).toEqual({ stopped: null, waited: { final: true, refused: null } });
    expect(state.counts).toMatchObject({ accepted: 600, failed: 0, pending: 0 });
    const sentAfter = ((sends.at(-1) ?? 0) - started) / 1_000;
    expect(sentAfter).toBeGreaterThan(12);
    // 300 reads at 10 a second, and a burst less than the first second's waiting.
    expect(seconds).toBeLessThan(32);
    expect(reads).toHaveLength(300);
    expect(reads.filter(({ at }) => at < sentAfter * 1_000).length).toBeGreaterThan(100);
    expect(await finals()).toHaveLength(300);
  });

  it('asks no batch at once, and none within half a second of the last time', async () => {
    const { run, reads } = setting(40, 5_000);
    await run();
    expect(Math.min(...reads.map(({ age }) => age))).toBeGreaterThanOrEqual(500);
    const last = new Map<string, number>();
    for (const { id, at } of reads) {
      expect(at - (last.get(id) ?? Number.NEGATIVE_INFINITY)).toBeGreaterThanOrEqual(500);
      last.set(id, at);
    }
  });

  it('asks a slow batch a few times, not every second', async () => {
    const { run, reads } = setting(1, 60_000);
    const { ending } = await run();
    expect(ending.waited?.final).toBe(true);
    expect(reads.length).toBeLessThan(15);
  });

  it('tells how far it is, also within a batch, and no figure ever leaves the whole', async () => {
    const { run } = setting(1, 60_000);
    const { events } = await run();
    expect(events.map(({ counts }) => counts.sent)).toContain(1);
    expect(events.at(-1)).toMatchObject({ type: 'final', counts: { sent: 2 } });
    for (const { counts } of events)
      expect(outcomes.reduce((sum, name) => sum + counts[name], 0)).toBe(counts.planned);
  });

  it('gives up when its time is over, which runs from the last send, and goes on at the next run', async () => {
    const { run, finals } = setting(3, 3_600_000);
    const first = await run(undefined, {}, 30_000);
    expect(first.ending).toEqual({ stopped: null, waited: { final: false, refused: null } });
    expect(first.seconds).toBeGreaterThan(29);
    expect(first.seconds).toBeLessThan(32);
    expect(await finals()).toEqual([]);
    const second = await run(undefined, {}, 7_200_000);
    expect(second.ending.waited?.final).toBe(true);
    expect(second.state.counts.sent).toBe(6);
  });

  it('asks no more for a batch that turned out to be another one', async () => {
    const { run, reads, disk } = setting(2, 3_600_000);
    await run(undefined, {}, 1_000);
    const journal = await Journal.open(disk, 'j', () => {});
    await journal.append({ type: 'alarm', request: 0, revision: 0, reason: 'for others' });
    reads.length = 0;
    const { ending, state } = await run(undefined, {}, 7_200_000);
    expect(ending.waited?.final).toBe(true);
    expect(new Set(reads.map(({ id }) => id)).size).toBe(1);
    expect(state.counts).toMatchObject({ accepted: 2, in_doubt: 2 });
  });

  it('sends on when the service refuses to be asked, and says so at the end', async () => {
    const { run, reading } = setting(60, 300);
    const refusing = reading(() => {
      throw new Refused('unauthorized', 401);
    });
    const { ending, state } = await run(refusing);
    expect(ending).toEqual({
      stopped: null,
      waited: { final: false, refused: 'unauthorized' },
    });
    expect(state.counts.accepted).toBe(120);
  });

  it('takes a read that failed for one to repeat', async () => {
    const { run, reading, look } = setting(20, 300);
    let faults = 0;
    const failing = reading((id) => {
      faults += 1;
      if (faults % 3 === 1) throw new Refused('timeout', null);
      return look(id);
    });
    const { ending } = await run(failing);
    expect(ending.waited?.final).toBe(true);
  });

  it('stops, with its figures, when what is final cannot be recorded', async () => {
    const { run, disk, reads } = setting(40, 300);
    // Everything is accepted long before.
    disk.before = () => {
      if (reads.length > 30) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    };
    const { ending, state } = await run();
    expect(ending).toMatchObject({ stopped: { by: 'disk', error: { code: 'ENOSPC' } } });
    expect(state.counts).toMatchObject({ planned: 80, accepted: 80 });
    expect(state.final).toBe(false);
  });

  it('asks for nothing more once it is stopped', async () => {
    const { run, reads } = setting(200, 300);
    const { ending } = await run(undefined, {
      client: clientOf(new ModelService({ credits: 100 })),
    });
    expect(ending.stopped).toMatchObject({ by: 'service', code: 'insufficient_credits' });
    expect(reads.length).toBeLessThanOrEqual(5);
  });
});
