import { openJob } from '../../bulk/job/open-job.js';
import { Poller } from '../../bulk/results/poller.js';
import { Recorder } from '../../bulk/send/recorder.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { refuseOtherService } from './base-url.js';
import { openJobRuntime } from './job-runtime.js';

/**
 * Reads everything in a job that is not final, or unknown, from the service once, and records it. Throws CliError:
 * exit 11 while a process runs the job, 14 for what could not be read.
 */
export async function refreshJob(
  context: Pick<Context, 'io' | 'config' | 'clock' | 'signal' | 'network'>,
  id: string,
  timeout: number,
): Promise<void> {
  const job = await openJob(context.config.stateDirectory, id);
  const { plan, journal, state } = job;
  try {
    await refuseOtherService(context, job);
    if (state.final && state.counts.unknown === 0) return;
    const runtime = await openJobRuntime(context, {});
    const run = { recorder: new Recorder(journal, state), halted: runtime.stop };
    const poller = new Poller({ ...runtime, plan, state, timeout, once: true }, run);
    try {
      await poller.resume();
      poller.close();
      const read = () => poller.run();
      const { final, refused } = await context.io.withProgress('Reading from the service', read);
      if (!final) throw notRead(id, refused);
    } finally {
      runtime.close();
    }
  } finally {
    await job.close();
  }
}

const notRead = (id: string, code: string | null) =>
  new CliError(
    code ?? 'not_final',
    exits.notFinal,
    `not all of the job ${id} could be read: ${code ?? 'timeout'}`,
    { hint: `See what is known: \`urtuu jobs show ${id}\`` },
  );
