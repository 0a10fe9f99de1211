import { byteOrderMark } from '../../../../contract/csv.js';
import type { Entry } from '../../../bulk/job/journal/entries.js';
import { type Job, openJob } from '../../../bulk/job/open-job.js';
import { isSystemError } from '../../../bulk/job/system-error.js';
import type { FrozenPlan } from '../../../bulk/plan/plan.js';
import { ReceiptStore } from '../../../bulk/results/receipt-store.js';
import { Receipts } from '../../../bulk/results/receipts.js';
import {
  columnNamesOf,
  inBlocks,
  type ReportRow,
  reportBlocks,
  reportRows,
} from '../../../bulk/results/report.js';
import { SingleMessages } from '../../../bulk/results/single-messages.js';
import type { Context } from '../../../context.js';
import { CliError, machineError, usageError } from '../../../errors.js';
import { type ExitCode, exits, isOfKey } from '../../../exit-codes.js';
import { once } from '../../../once.js';
import { masked } from '../../../output/mask.js';
import type { View } from '../../../output/view.js';
import { BatchMessages } from '../../../reader/batch-messages.js';
import { Reader } from '../../../reader/reader.js';
import { counted, grouped } from '../../../text/wording.js';
import { isWorkbookName } from '../../../xlsx/report-workbook.js';
import { refuseOtherService } from '../base-url.js';
import { alarmText } from '../display.js';
import { type JobRuntime, openJobRuntime } from '../job-runtime.js';
import { maskCells } from '../mask-cells.js';
import { inOne, reportCommand } from '../next-command.js';
import type { CarryOutOptions } from '../options.js';
import { refuseList } from '../same-file.js';
import type { Reported } from '../verdict.js';
import { workbookReport } from './workbook-report.js';

/** Writes the report of a command's own job, if it is wanted. `ran` is the run before it, if there was one. */
export async function writeReport(
  context: Pick<Context, 'io' | 'config' | 'clock' | 'signal' | 'network'>,
  job: Job,
  options: CarryOutOptions,
  ran?: { runtime: JobRuntime; exit: ExitCode },
): Promise<Reported> {
  const { report: path, waitTimeout: timeout } = options;
  if (path === undefined) return 'written';
  // The last line explains the exit code.
  const isLast = ran?.exit === exits.ok || ran?.exit === exits.partly;
  const warn: Context['io']['conclude'] = (...line) =>
    isLast ? context.io.conclude(...line) : context.io.warn(...inOne(...line));
  const runtime = ran?.runtime ?? (await openJobRuntime(context, options));
  try {
    const openRuntime = async () => runtime;
    const receipts = await gather(context, job, { openRuntime, timeout });
    const blocks = isWorkbookName(path)
      ? workbookReport(job, reportRows(job, receipts, null), (await reportView(job.plan)).columns)
      : reportBlocks(job, receipts);
    await context.io.files.write(path, blocks);
    // After an alarm, the job is in doubt anyway.
    if (receipts.alarms.length > 0 || receipts.unread === null) return 'written';
    const again = context.config.commandLine(['jobs', 'report', job.id], { '--report': path });
    const key = isOfKey(receipts.unread.code) ? `, with ${readingKey}` : '';
    warn(unreadText(receipts.unread), [`Write it again${key}:`, again]);
    return 'incomplete';
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    warn(`${error.message}.`, ['Write the report with:', reportCommand(context, job.id)]);
    return 'unwritten';
  } finally {
    if (ran === undefined) runtime.close();
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
 * Writes the report of a job that is not running, in any format; to standard output without `report`. Throws CliError
 * if the report is incomplete: exit 4 if the key cannot read the rest, else 14.
 */
export async function reportJob(context: Context, id: string, options: ReportOptions): Promise<void> {
  const { offline, refresh, waitTimeout: timeout } = options;
  if (options.report !== undefined && isWorkbookName(options.report)) refuseFormat(context, options.report);
  await context.io.files.checkWritable(options.report);
  const job = await openJob(context.config.stateDirectory, id);
  let closeRuntime = () => {};
  const openRuntime = async () => {
    const runtime = await openJobRuntime(context, {});
    closeRuntime = runtime.close;
    return runtime;
  };
  try {
    refuseList(context.config, job.meta, options.report);
    if (!offline) await refuseOtherService(context, job);
    const view = await reportView(job.plan);
    await context.io.printer.checkColumns(view);
    const receipts = await gather(context, job, {
      openRuntime: offline ? null : openRuntime,
      timeout,
      refresh,
    });
    await print(context, job, receipts, view, options.report);
    if (job.state.counts.unknown > 0) {
      const rows = counted(job.state.counts.unknown, 'row');
      context.io.note(
        `${rows}: delivery unknown. To send to them again, use --only unknown with this report.`,
      );
    }
    if (receipts.unreported > 0 && !offline) {
      const rows = counted(receipts.unreported, 'row');
      context.io.note(
        `${rows} had no delivery report when they were read. To read them again, add --refresh.`,
      );
    }
    if (receipts.unread !== null) throw incomplete(receipts.unread);
    if (receipts.unreadDeliveries !== null) throw withoutDeliveries(receipts.unreadDeliveries);
  } finally {
    closeRuntime();
    await job.close();
  }
}

async function reportView(plan: FrozenPlan): Promise<View<ReportRow>> {
  const names = await columnNamesOf(plan);
  return {
    columns: names.map((name, index) => ({ name, value: (row) => row[index] })),
    record: (row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? null])),
  };
}

/** Throws CliError (exit 2) for options that a workbook cannot use. */
function refuseFormat({ io, options }: Pick<Context, 'io' | 'options'>, file: string): void {
  const hint = 'Name a file that does not end in .xlsx.';
  if (io.printer.isMachine)
    throw usageError(`${file} is written as a workbook, not as ${io.printer.format}`, hint);
  if (options.header === false) throw usageError(`${file} is a workbook, which always has a header`, hint);
}

/** A workbook if the name ends in .xlsx; otherwise CSV, unless another format was given, even `table`. */
async function print(
  { io, options }: Pick<Context, 'io' | 'options'>,
  job: Job,
  receipts: Receipts,
  view: View<ReportRow>,
  file: string | undefined,
): Promise<void> {
  const { printer, files } = io;
  const isTable = options.output === 'table' && !printer.isMachine && file === undefined;
  const mask = options.mask || (isTable && printer.mask);
  const rows = reportRows(job, receipts, mask ? { recipient: masked, error: maskCells } : null);
  if (file !== undefined && isWorkbookName(file))
    return files.write(file, workbookReport(job, rows, printer.columnsOf(view)));
  if (isTable) return io.printAll(view, rows);
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

function unreadText({ batches, rows, code }: Unread): string {
  const ofBatches = batches === 0 ? '' : ` of ${counted(batches, 'batch')}`;
  return `The report is incomplete: ${counted(rows, 'row')}${ofBatches} could not be read (${code}).`;
}

const readingKey = 'a key that can read';

/** For rows that a report lacks: exit 4 if the key is refused, which it would be later too, else 14. */
function notRead(
  message: string,
  cause: string,
  hintOf: (again: string) => string,
  details: Record<string, unknown>,
): CliError {
  const isKeyRefused = isOfKey(cause);
  const isLost = cause === 'not_found';
  const again = isKeyRefused
    ? `Run the same command again with ${readingKey}`
    : isLost
      ? 'The service does not know them: they were erased, or this API key belongs to another project'
      : 'Run the same command again later';
  const code = isKeyRefused || isLost ? cause : 'not_final';
  return new CliError(code, isKeyRefused ? exits.key : exits.notFinal, message, {
    hint: hintOf(again),
    details,
  });
}

function incomplete(unread: Unread): CliError {
  const { batches, rows, code: cause } = unread;
  const hintOf = (again: string) => `Those rows have the error_code not_read. ${again}.`;
  const retryable = cause === 'not_found' ? { retryable: false } : {};
  return notRead(unreadText(unread), cause, hintOf, { batches, rows, cause, ...retryable });
}

function withoutDeliveries({ rows, code: cause }: NonNullable<Receipts['unreadDeliveries']>): CliError {
  const message = `The delivery reports of ${counted(rows, 'row')} could not be read (${cause}).`;
  const hintOf = (again: string) => `The rest of the report is complete. ${again}, or add --offline.`;
  return notRead(message, cause, hintOf, { rows, cause });
}

async function messageReaders(openRuntime: () => Promise<JobRuntime>, timeout: number) {
  const runtime = await openRuntime();
  const reader = new Reader({ ...runtime, timeout });
  const { client } = runtime;
  return { ofBatch: new BatchMessages(client, reader), single: new SingleMessages(client, reader) };
}

interface GatherOptions {
  /** Called once, for the first message read from the service; null to read none. */
  openRuntime: (() => Promise<JobRuntime>) | null;
  timeout: number;
  refresh?: boolean | undefined;
}

/** Records batches that turn out to be another request's as alarms, and new receipts. */
export async function gather(
  { io }: Pick<Context, 'io'>,
  job: Job,
  { openRuntime, timeout, refresh }: GatherOptions,
): Promise<Receipts> {
  const { plan, journal, state } = job;
  const progress = io.progress();
  const store = await ReceiptStore.open(job.folder, { id: job.id, ...plan.meta });
  let batches = 0;
  try {
    const receipts = await Receipts.gather({
      plan,
      state,
      messages: openRuntime && once(() => messageReaders(openRuntime, timeout)),
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
      onPage: () => progress.update('report: reading delivery reports'),
    });
    if (receipts.unlisted) {
      io.note(
        'The service does not list the messages of a batch: the report has only the totals of each batch.',
      );
    }
    const entries: Entry[] = [...receipts.learned];
    for (const { request, reason } of receipts.alarms) {
      io.warn(alarmText(request, reason));
      entries.push({ type: 'alarm', request, revision: state.revision(request), reason });
    }
    await Promise.all(entries.map((entry) => journal.append(entry)));
    for (const entry of entries) state.apply(entry);
    return receipts;
  } catch (error) {
    throw isSystemError(error) ? machineError('a file of the job could not be used', error) : error;
  } finally {
    progress.stop();
    await store?.close();
  }
}
