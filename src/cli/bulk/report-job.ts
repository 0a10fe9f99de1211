import type { Context } from '../context.js';
import { byteOrderMark } from '../csv/line.js';
import { CliError, machineError } from '../errors.js';
import type { View } from '../output/view.js';
import { grouped } from '../output/wording.js';
import { isSystemError } from './disk.js';
import { type Job, openJob } from './job.js';
import { type JobWorld, openJobWorld } from './job-world.js';
import { Receipts } from './receipts.js';
import { inBlocks, type ReportRow, reportBlocks, reportRows, reportView } from './report.js';
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

/** Writes the report of a job that nobody is working on, in any format; to standard output without `report`. */
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
    const view = reportView(job.plan);
    await context.printer.checkColumns(view);
    await print(context, job, await gather(context, job, world), view, options.report);
  } finally {
    world?.forget();
    await job.close();
  }
}

/** As CSV unless another format is asked for, a table included. */
async function print(
  context: Context,
  job: Job,
  receipts: Receipts,
  view: View<ReportRow>,
  file: string | undefined,
): Promise<void> {
  const { printer, options, files } = context;
  const rows = reportRows(job, receipts, { mask: options.mask === true });
  if (options.output === 'table' && !printer.isMachine && file === undefined) {
    return context.printAll(view, rows);
  }
  const format = printer.isMachine ? printer.format : 'csv';
  const terminal = file === undefined && printer.isTerminal;
  const text = printer.formatted(view, rows, { format, terminal, mask: false });
  const marked = format === 'csv' && job.plan.input?.marked === true && !terminal;
  const blocks = inBlocks(marked ? after(byteOrderMark, text) : text);
  await (file === undefined ? printer.write(blocks) : files.write(file, blocks));
}

async function* after(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
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
