import { JobState } from '../../../src/cli/bulk/job/job-state.js';
import type { Entry } from '../../../src/cli/bulk/job/journal/entries.js';
import { Journal } from '../../../src/cli/bulk/job/journal/journal.js';
import type { BulkEvent } from '../../../src/cli/bulk/send/events.js';
import type { RunOptions } from '../../../src/cli/bulk/send/run.js';
import { runJob } from '../../../src/cli/bulk/send/runner.js';
import type { SendingClient } from '../../../src/cli/bulk/send/send-once.js';
import type { ProjectOptions } from '../../support/fake-project.js';
import { MemoryDisk } from './memory-disk.js';
import { memoryPlan, numbers } from './memory-plan.js';
import { clientOf, ModelService } from './model-service.js';
import { VirtualClock } from './virtual-clock.js';

export const small = memoryPlan([
  { to: numbers(3), text: 'to all' },
  ...numbers(4, 10).map((to) => ({ to: [to], text: `to ${to}` })),
]);

/** A job in memory at a service in memory; each `run` is a process that resumes it. */
export function setting(options: ProjectOptions = {}, plan = small) {
  const service = new ModelService({ credits: 100_000, ...options });
  const disk = new MemoryDisk();
  const clock = new VirtualClock();
  const run = async (client: SendingClient = clientOf(service), extra: Partial<RunOptions> = {}) => {
    const state = new JobState(plan.meta);
    const journal = await Journal.open(disk, 'j', (entry) => state.apply(entry));
    const events: BulkEvent[] = [];
    const work = async () => {
      const job = runJob({
        jobId: 'job',
        plan,
        journal,
        state,
        client,
        rateLimiter: { take: async (_, signal) => !signal?.aborted, block: () => {} },
        now: clock.now,
        wallTime: clock.now,
        sleep: clock.sleep,
        random: () => 0.5,
        concurrency: 3,
        maxWait: 600_000,
        ...extra,
      });
      for (;;) {
        const { value, done } = await job.next();
        if (done) return value;
        events.push(value);
      }
    };
    const ending = await clock.run(work());
    return { ending, events, counts: state.counts, state };
  };
  const entries = async () => {
    const read: Entry[] = [];
    await Journal.open(disk, 'j', (entry) => read.push(entry));
    return read;
  };
  return { service, disk, clock, run, entries };
}
