import type { Context } from '../context.js';
import { CliError, machineError } from '../errors.js';
import { grouped } from '../output/wording.js';
import { isSystemError } from './disk.js';
import { type Job, openJob } from './job.js';
import { type JobWorld, openJobWorld } from './job-world.js';
import { Receipts } from './receipts.js';
import { reportBlocks } from './report.js';
import { refuseOtherService } from './start.js';

/** Writes the report of a job that is being carried out. False, after a warning, when it could not be written. */
export async function report(context: Context, job: Job, path: string, world: JobWorld): Promise<boolean> {
  try {
    await context.files.write(path, reportBlocks(job, await gather(context, job, world)));
    return true;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    context.warn(error.message);
    return false;
  }
}

/** Writes the report of a job that nobody is working on; to standard output without `report`. */
export async function reportJob(
  context: Context,
  id: string,
  options: { report?: string; offline?: boolean },
): Promise<void> {
  await context.files.checkWritable(options.report);
  const job = await openJob(context.stateDirectory, id);
  let world: JobWorld | null = null;
  try {
    if (!options.offline) {
      await refuseOtherService(context, job);
      world = await openJobWorld(context, {});
    }
    const receipts = await gather(context, job, world);
    if (options.report !== undefined) {
      await context.files.write(options.report, reportBlocks(job, receipts));
    } else {
      for await (const block of reportBlocks(job, receipts)) await context.printer.text(block);
    }
  } finally {
    world?.forget();
    await job.close();
  }
}

/** Null for `world`: only what the journal says. What turns out not to be this job's is recorded as an alarm. */
async function gather(context: Context, job: Job, world: JobWorld | null): Promise<Receipts> {
  const { plan, journal, table } = job;
  const online = world !== null && !world.stop.aborted;
  const progress = context.progress();
  let batches = 0;
  try {
    const receipts = await Receipts.gather({
      plan,
      journal,
      client: online ? world.client : null,
      pace: world?.pace ?? { take: async () => true, block: () => {} },
      sleep: (milliseconds) => context.clock.sleep(milliseconds),
      onBatch() {
        const total = plan.meta.batches;
        progress.update([`report: batch ${grouped(batches + 1)} of ${grouped(total)}`], {
          done: batches,
          total,
        });
        batches += 1;
      },
      stop: context.signal,
    });
    if (!receipts.complete) {
      context.note('The service does not list the messages of a batch: the report has what the batches say.');
    }
    for (const { chunk, reason } of receipts.alarms) {
      context.warn(`request ${chunk}: ${reason}; it is counted as in doubt`);
      const entry = ['alarm', chunk, table.revision(chunk), reason] as const;
      await journal.append([...entry]);
      table.apply([...entry]);
    }
    return receipts;
  } catch (error) {
    throw isSystemError(error) ? machineError('a file of the job could not be used', error) : error;
  } finally {
    progress.stop();
  }
}
