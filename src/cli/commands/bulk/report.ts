import { isSystemError } from '../../bulk/job/append-file.js';
import { type Job, openJob } from '../../bulk/job/open-job.js';
import { Listing } from '../../bulk/results/batch-messages.js';
import { ReceiptStore } from '../../bulk/results/receipt-store.js';
import { Receipts } from '../../bulk/results/receipts.js';
import { inBlocks, type ReportRow, reportBlocks, reportRows, reportView } from '../../bulk/results/report.js';
import type { Context } from '../../context.js';
import { byteOrderMark } from '../../csv/line.js';
import { CliError, machineError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import type { View } from '../../output/view.js';
import { counted, grouped } from '../../wording.js';
import { type JobWorld, openJobWorld } from './job-runtime.js';
import { refuseOtherService } from './prepare.js';

/** What came of a report: whether it is there, and whether anything in it is missing or alarming. */
export type Reported = 'written' | 'incomplete' | 'alarming' | 'unwritten';

/** Writes the report of a job that was carried out just now; warns of what is wrong with it. */
export async function report(
  context: Context,
  job: Job,
  path: string,
  { world, timeout, tell }: { world: JobWorld; timeout: number; tell: Context['io']['warn'] },
): Promise<Reported> {
  try {
    const receipts = await gather(context, job, { world, timeout });
    await context.io.files.write(path, reportBlocks(job, receipts));
    if (receipts.alarms.length > 0) return 'alarming';
    if (receipts.unread === null) return 'written';
    const again = context.config.commandLine(['jobs', 'report', job.id], { '--report': path });
    tell(`${unreadText(receipts.unread)} Write it again with:`, again);
    return 'incomplete';
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    tell(error.message);
    return 'unwritten';
  }
}

export interface ReportOptions {
  report?: string;
  offline?: boolean;
  refresh?: boolean;
  /** Milliseconds. */
  waitTimeout: number;
}

/**
 * Writes the report of a job that nobody is working on, in any format; to standard output without `report`.
 * Throws CliError (exit 14) when it is written and incomplete.
 */
export async function reportJob(context: Context, id: string, options: ReportOptions): Promise<void> {
  const { offline, refresh, waitTimeout: timeout } = options;
  await context.io.files.checkWritable(options.report);
  const job = await openJob(context.config.stateDirectory, id);
  let world: JobWorld | null = null;
  try {
    if (!offline) {
      await refuseOtherService(context, job);
      world = await openJobWorld(context, {});
    }
    const view = reportView(job.plan);
    await context.io.printer.checkColumns(view);
    const receipts = await gather(context, job, { world, timeout, refresh });
    await print(context, job, receipts, view, options.report);
    if (receipts.unreported > 0 && !offline) {
      const rows = counted(receipts.unreported, 'row');
      context.io.note(
        `${rows} had no delivery report when they were read. To read them again, add --refresh.`,
      );
    }
    if (receipts.unread !== null) throw incomplete(receipts.unread);
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
  const { options } = context;
  const { printer, files } = context.io;
  const rows = reportRows(job, receipts, { mask: options.mask === true });
  if (options.output === 'table' && !printer.isMachine && file === undefined) {
    return context.io.printAll(view, rows);
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

type Unread = NonNullable<Receipts['unread']>;

const unreadText = ({ batches, rows, code }: Unread) =>
  `The report is incomplete: ${counted(rows, 'row')} of ${counted(batches, 'batch')} could not be read (${code}).`;

const incomplete = (unread: Unread) =>
  new CliError('not_final', exits.notFinal, unreadText(unread), {
    hint: 'Those rows have the error_code not_read. Run the same command again later.',
    details: { batches: unread.batches, rows: unread.rows, cause: unread.code },
  });

interface GatherOptions {
  /** Null: only what this machine knows. */
  world: JobWorld | null;
  timeout: number;
  refresh?: boolean | undefined;
}

/** What turns out not to be this job's is recorded as an alarm. */
async function gather(
  context: Context,
  job: Job,
  { world, timeout, refresh }: GatherOptions,
): Promise<Receipts> {
  const { plan, journal, table } = job;
  const progress = context.io.progress();
  const store = await ReceiptStore.open(job.folder, { id: job.id, ...plan.meta });
  let batches = 0;
  try {
    const receipts = await Receipts.gather({
      plan,
      journal,
      listing: world === null ? null : new Listing({ ...world, timeout }),
      store,
      refresh,
      onBatch() {
        const total = plan.meta.batches;
        progress.update([`report: batch ${grouped(batches + 1)} of ${grouped(total)}`], {
          done: batches,
          total,
        });
        batches += 1;
      },
    });
    if (receipts.unlisted) {
      context.io.note(
        'The service does not list the messages of a batch: the report has what the batches say.',
      );
    }
    for (const { request, reason } of receipts.alarms) {
      context.io.warn(`request ${request}: ${reason}; it is counted as in doubt`);
      const entry = ['alarm', request, table.revision(request), reason] as const;
      await journal.append([...entry]);
      table.apply([...entry]);
    }
    return receipts;
  } catch (error) {
    throw isSystemError(error) ? machineError('a file of the job could not be used', error) : error;
  } finally {
    progress.stop();
    await store?.close();
  }
}
