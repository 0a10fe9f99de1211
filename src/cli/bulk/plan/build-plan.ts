import type { Channel, OperatorTable, Pricing } from '../../../contract/index.js';
import type { Delimiter } from '../input/delimiter.js';
import { InputError } from '../input/input-error.js';
import { readTable } from '../input/read-table.js';
import { columnNamed, findRecipientColumn } from '../input/recipient-column.js';
import type { RepairCounts } from '../input/repair.js';
import type { TableFormat } from '../input/table-parser.js';
import { bindMessage, type MessageTemplates, parseTemplates } from './composer.js';
import { costOf, pricesOf } from './cost.js';
import { Layout } from './layout.js';
import { Messages } from './message-store.js';
import type { Account, FrozenPlan, PlanMeta } from './plan.js';
import { type Disk, nodeDisk } from './plan-disk.js';
import { PlanFolder } from './plan-folder.js';
import type { PlanRecord } from './plan-format.js';
import { planOf } from './plan-reader.js';
import { type Recipients, recipientsOf } from './recipient-store.js';
import { type Rejects, type RejectsPlace, writeRejects } from './rejects-file.js';
import { type Origins, originColumnsOf } from './reported-rows.js';
import { type IntakeColumns, RowIntake, type SentBefore } from './row-planner.js';
import { RowSpool } from './row-store.js';
import { type PlanParts, writePlaces, writeRequests } from './write-requests.js';

export interface PlanInput {
  /** The bytes as they come, such as a file's read stream or standard input. */
  bytes: AsyncIterable<Uint8Array>;
  /** The file's name as given, or `-`. */
  source: string;
}

export interface PlanOptions {
  channel: Channel;
  baseUrl: string;
  templates: MessageTemplates;
  /** A new folder for the plan; it is made, and its files are durable when the plan is there. */
  folder: string;
  /** ISO 8601. */
  createdAt: string;
  /** Null when the price list is not known: every credit is 0 then. */
  pricing: Pricing | null;
  /** The random id of a run that `--again` asked for; it becomes part of every key. */
  run?: string | null | undefined;
  /** The API key that the job is started with. */
  account?: Account | null | undefined;
  toColumn?: string | undefined;
  /** A WHATWG label, such as `windows-1251`. */
  encoding?: string | undefined;
  delimiter?: Delimiter | undefined;
  headerless?: boolean | undefined;
  /** Name of the sheet of a workbook. */
  sheet?: string | undefined;
  /** Takes only rows whose `status` column has one of these. */
  only?: readonly string[] | undefined;
  /** Who has which message already: they are counted, or left out. */
  sentBefore?: SentBefore | null | undefined;
  /** Plans a recipient once for each of its messages, instead of refusing the second. */
  allowRepeats?: boolean | undefined;
  /** Plans the good rows although there are bad ones. */
  skipInvalid?: boolean | undefined;
  /** Where rejected rows are kept, if there are any; in the plan's folder when absent. */
  rejects?: RejectsPlace | undefined;
  operators?: OperatorTable | undefined;
  signal?: AbortSignal | undefined;
  disk?: Disk | undefined;
  /** Recipients that are held in memory while requests are put together, at least a batch; 1,000,000 when absent. */
  windowRecipients?: number | undefined;
}

export interface PlanOutcome {
  /** Null when nothing was planned: rows are bad and `skipInvalid` is not set, or all are bad. */
  plan: FrozenPlan | null;
  meta: PlanMeta;
  rejects: Rejects;
  /** Recipients that were repaired, by what was repaired; one may count under several. */
  repairs: RepairCounts;
  /** Rows that `only` did not choose. */
  notChosen: number;
  /** The jobs whose reports the rows that it chose are from. */
  origins: Origins;
  /** Rows that were left out because their recipient has the message. */
  alreadySent: number;
  delimiter: Delimiter;
  /** Name of the sheet that was read; null for CSV. */
  sheet: string | null;
  /** Rows of the sheet that are hidden, and were read like the others. */
  hiddenRows: number;
  /** Name of the recipient column. */
  toColumn: string;
}

/**
 * Reads an input and freezes its plan in a folder: in constant memory, and the same for the same input.
 * Throws InputError when the input cannot be planned at all, and the system's error when a file fails.
 */
export async function buildPlan(input: PlanInput, options: PlanOptions): Promise<PlanOutcome> {
  const disk = options.disk ?? nodeDisk;
  const templates = parseTemplates(options.channel, options.templates);
  disk.makeFolder(options.folder);
  const files = new PlanFolder(disk, options.folder);
  try {
    const rows = await readRows(input, options, templates, files);
    return await freeze(rows, input.source, options, files, disk);
  } catch (error) {
    try {
      files.discard();
    } catch {
      // What went wrong first is what the person must hear; it is often why this failed too.
    }
    throw error;
  }
}

interface ReadRows {
  table: TableFormat;
  columns: string[];
  hiddenRows: number;
  spool: RowSpool;
  recipients: Recipients;
  intake: RowIntake;
}

/** First pass: every row has its recipient and message, or its errors, and the copy of the input is written. */
async function readRows(
  input: PlanInput,
  options: PlanOptions,
  templates: ReturnType<typeof parseTemplates>,
  files: PlanFolder,
): Promise<ReadRows> {
  const recipients = recipientsOf(options.channel, options.operators, () => files.scratch('addresses'));
  const spool = new RowSpool(files.scratch('rows'));
  const copy = files.sealed('input.csv');
  const { format, columns, taker, hiddenRows } = await readTable(input, options, {
    copy: (block) => copy.append(block),
    store: (name) => files.scratch(name),
    onHeader(header, line, source) {
      const composer = bindMessage(options.channel, templates, header);
      const messages = new Messages(composer, files.scratch('messages'));
      const wanted = columnsOf(header, line, source, options, recipients);
      return new RowIntake(wanted, recipients, messages, spool, files.sealed('errors'), options.sentBefore);
    },
  });
  if (taker === null || spool.length === taker.notChosen) throw nobody(input.source, options.only);
  spool.finish();
  taker.messages.finish();
  return {
    table: { ...format, recipient: taker.recipientColumn },
    columns,
    hiddenRows,
    spool,
    recipients,
    intake: taker,
  };
}

/** Settles where every row goes; writes the rejects, and the requests unless the rejects forbid it. */
async function freeze(
  { table, columns, hiddenRows, spool, recipients, intake }: ReadRows,
  source: string,
  options: PlanOptions,
  files: PlanFolder,
  disk: Disk,
): Promise<PlanOutcome> {
  const { channel, folder } = options;
  const { messages, repeats } = intake;
  repeats.settle(spool, messages.counts, options.allowRepeats ?? false);
  const layout = new Layout(messages, recipients.maxBytes);
  const priceOf = pricesOf(channel, messages, options.pricing);
  const parts: PlanParts = { spool, repeats, messages, recipients, layout, priceOf };
  writePlaces(parts, files.sealed('places'));

  const cost = costOf(channel, messages, priceOf);
  const meta: PlanMeta = {
    version: 2,
    channel,
    baseUrl: options.baseUrl,
    digest: '',
    source,
    columns,
    created_at: options.createdAt,
    run: options.run ?? null,
    account: options.account ?? null,
    recipients: layout.recipients,
    merged: repeats.merged,
    rejected: intake.rejected + repeats.conflicts,
    repaired: recipients.repaired,
    requests: layout.requests,
    batches: layout.requests - layout.singles,
    singles: layout.singles,
    cost,
    credits: cost.reduce((sum, { credits }) => sum + credits, 0),
  };
  const record: PlanRecord = { meta, table, files: files.unsealed() };
  const plan = planOf(folder, record, disk);
  const outcome = {
    meta,
    rejects: { count: 0, first: [], rows: [], file: null } as Rejects,
    repairs: recipients.repairs,
    notChosen: intake.notChosen,
    origins: intake.origins,
    alreadySent: intake.alreadySent,
    delimiter: table.delimiter,
    sheet: table.sheet?.name ?? null,
    hiddenRows,
    toColumn: columns[intake.recipientColumn] ?? '',
  };
  if (meta.rejected > 0) {
    files.flush();
    outcome.rejects = await writeRejects(plan, options.rejects ?? null, disk);
  }
  if (layout.recipients === 0 || (meta.rejected > 0 && options.skipInvalid !== true)) {
    files.discard();
    return { plan: null, ...outcome };
  }
  await writeRequests(parts, files.requestFiles(), options);
  record.files = files.seal();
  meta.digest = record.files.bodies.sha256;
  files.finish(record);
  return { plan, ...outcome };
}

function columnsOf(
  names: string[],
  line: number,
  source: string,
  options: PlanOptions,
  recipients: Recipients,
): IntakeColumns {
  const recipient = findRecipientColumn({
    channel: options.channel,
    columns: names,
    toColumn: options.toColumn,
    headerless: options.headerless ?? false,
    source,
    line,
    looksLikeRecipient: (cell) => recipients.read(cell) === null,
  });
  if (options.only === undefined) return { names, recipient, chosen: null, origin: null };
  const column = columnNamed(names, 'status');
  if (column !== -1)
    return {
      names,
      recipient,
      chosen: { column, statuses: new Set(options.only.map((status) => status.toLowerCase())) },
      origin: originColumnsOf(names),
    };
  throw new InputError(
    'columns',
    source,
    'no column is named status, which --only reads',
    'give it the report of a job',
    { line },
  );
}

function nobody(source: string, only: readonly string[] | undefined): InputError {
  return only === undefined
    ? new InputError('empty', source, 'no recipients', 'the file has no row below its header')
    : new InputError(
        'empty',
        source,
        `no row has the status ${only.join(' or ')}`,
        'nothing is left to send',
      );
}
