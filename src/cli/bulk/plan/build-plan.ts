import type { Pricing } from '../../../contract/index.js';
import type { Delimiter } from '../input/delimiter.js';
import { readTable } from '../input/read-table.js';
import type { RepairCounts } from '../input/repair.js';
import type { ReadTable, TableInput, TableOptions, Unread } from '../input/table.js';
import { bindMessage, type Composer, type MessageTemplates, parseTemplates } from './composer.js';
import { costOf, pricesOf } from './cost.js';
import { Duplicates } from './duplicates.js';
import type { ListRead } from './earlier-reading.js';
import { type ExcludeList, readExcluded } from './exclude-list.js';
import { nodePlanDisk, type PlanDisk } from './files/plan-disk.js';
import { PlanFolder } from './files/plan-folder.js';
import type { Origin, PlanRecord } from './files/plan-format.js';
import { planOf } from './files/plan-reader.js';
import { type Rejects, type RejectsPlace, writeRejects } from './files/rejects-file.js';
import { Layout } from './layout.js';
import { MessageStore } from './message-store.js';
import type { PairSet } from './pair-set.js';
import type { Account, FrozenPlan, PlanMeta, Rest, Source } from './plan.js';
import { type Preview, previewOf } from './preview.js';
import { type RecipientStore, recipientStore } from './recipient-store.js';
import type { ReportedRows } from './reported-rows.js';
import { type Fallbacks, type Placeholders, RowPlanner } from './row-planner.js';
import { type ColumnOptions, type LeftOut, noRecipients, selectColumns } from './select-columns.js';
import { type PlanDraft, takeFirst, writePlaces, writeRequests } from './write-plan.js';

/** What other jobs have sent, which is looked for between the two passes. */
export interface SentBefore {
  /** Receives the recipients of the list with their messages. */
  pairs: PairSet;
  mark(list: ListRead, reported: ReportedRows): Promise<void>;
  /** Whether to leave out those pairs that `mark` has skipped. */
  skip: boolean;
}

export interface PlanOptions extends TableOptions, ColumnOptions {
  baseUrl: string;
  templates: MessageTemplates;
  /** Replaces the quotes, dashes and blanks that the GSM alphabet lacks. */
  gsm?: boolean | undefined;
  /** Composes the messages in place of the templates. */
  composer?: ((columns: readonly string[]) => Composer) | undefined;
  /** The options for `PlanMeta`, and the jobs of `--like`. */
  options?: PlanMeta['options'];
  like?: PlanMeta['like'];
  maxCredits?: number | undefined;
  /** Only a person who names the plan starts its job. */
  hold?: boolean | undefined;
  /** The digest of a job whose rows are in the input; null if it is not here. */
  digestOf?(job: string): Promise<string | null>;
  /** A new folder for the plan. */
  folder: string;
  /** The input's path, for `PlanMeta`. */
  path?: string | undefined;
  /** ISO 8601. */
  createdAt: string;
  /** Null if the price list is unknown; every credit is 0 then. */
  pricing: Pricing | null;
  /** The random id of an `--again` run; it becomes part of every idempotency key. */
  run?: string | null | undefined;
  account?: Account | null | undefined;
  sentBefore?: SentBefore | null | undefined;
  /** Plans a recipient once for each of its messages, instead of rejecting the second one. */
  allowRepeats?: boolean | undefined;
  /** Leaves out the recipients of another list. */
  excluded?: ExcludeList | undefined;
  /** Plans the first recipients only; `listOptions` say how to read the list for the others. */
  first?: number | undefined;
  listOptions?: Rest['options'] | undefined;
  /** Plans the valid rows even if some are rejected. */
  skipInvalid?: boolean | undefined;
  /** Default: `rejects.csv` in the plan's folder. */
  rejects?: RejectsPlace | undefined;
  disk?: PlanDisk | undefined;
  /** Recipients in memory at once while requests are written, at least 1,000. Default 1,000,000. */
  windowRecipients?: number | undefined;
}

export interface PlanOutcome {
  /** Null if all rows are rejected, or some without `skipInvalid`. */
  plan: FrozenPlan | null;
  meta: PlanMeta;
  /** The first and the longest message; null without a plan. */
  preview: Preview | null;
  rejects: Rejects;
  repairs: RepairCounts;
  /** All rows, and those that an option left out. */
  rows: number;
  leftOut: Readonly<Record<LeftOut, number>>;
  /** Recipients that `first` leaves for later. */
  later: number;
  reportedRows: ReportedRows;
  /** Whether the release at e5bfb29c sent any row another message. */
  isNew: boolean;
  /** Recipients of messages in which `gsm` has replaced characters. */
  replaced: number;
  placeholders: readonly Placeholders[];
  fallbacks: readonly Fallbacks[];
  /** Rows left out because their recipient already got the message. */
  alreadySent: number;
  /** Null for a sheet. */
  delimiter: Delimiter | null;
  /** Name of the sheet; null for CSV. */
  sheet: string | null;
  /** Hidden rows of the sheet, and whether they are left out. */
  hiddenRows: number;
  leavesOutHidden: boolean;
  unread: Unread;
  /** Name of the recipient column. */
  toColumn: string;
}

/** What a preflight shows of it, which a held job keeps. */
export type ShownOutcome = Omit<PlanOutcome, 'plan' | 'meta' | 'rejects' | 'reportedRows' | 'placeholders'>;

/**
 * Plans an input in constant memory; the same input makes the same plan. When this resolves, its files are durable.
 * Throws InputError if no plan can be made, and the system's error if a file fails.
 */
export async function buildPlan(input: TableInput, options: PlanOptions): Promise<PlanOutcome> {
  const disk = options.disk ?? nodePlanDisk;
  const parsed = parseTemplates(options.channel, options.templates);
  disk.makeFolder(options.folder);
  const files = new PlanFolder(disk, options.folder);
  try {
    const planned = await planRows(input, options, parsed, files);
    return await freeze(planned, input.source, options, files, disk);
  } catch (error) {
    try {
      files.discard();
    } catch {
      // The first error is thrown; it is often the cause of this one.
    }
    throw error;
  }
}

interface PlannedRows extends Pick<ReadTable<RowPlanner>, 'format' | 'columns' | 'hiddenRows' | 'unread'> {
  planner: RowPlanner;
  recipients: RecipientStore;
}

/** The first pass: copies the input, and plans or rejects each row. */
async function planRows(
  input: TableInput,
  options: PlanOptions,
  parsed: ReturnType<typeof parseTemplates>,
  files: PlanFolder,
): Promise<PlannedRows> {
  const { source } = input;
  const { excluded, sentBefore } = options;
  const isExcluded = excluded && (await readExcluded(excluded, options, files));
  const recipients = recipientStore(options.channel, () => files.temporaryFile('addresses'));
  const copy = files.dataFile('input.csv');
  const { consumer, ...table } = await readTable(input, options, {
    copy: (block) => copy.append(block),
    store: (name) => files.temporaryFile(name),
    onHeader(names, line, place, damage) {
      const composer =
        options.composer?.(names) ??
        bindMessage(options.channel, options.templates, names, { parsed, gsm: options.gsm });
      const messages = new MessageStore(composer, files.temporaryFile('messages'));
      return new RowPlanner({
        columns: selectColumns({ names, line, source: place }, { ...options, isExcluded }, recipients),
        recipients,
        messages,
        damage,
        file: files.temporaryFile('rows'),
        errors: files.dataFile('errors'),
        pairs: sentBefore?.pairs ?? null,
      });
    },
  });
  if (consumer === null) throw noRecipients(source, options, null);
  const { where, only, exclude } = consumer.leftOut;
  if (consumer.rows.length === where + only + exclude) throw noRecipients(source, options, consumer.leftOut);
  consumer.messages.finish();
  const { format, columns } = table;
  if (sentBefore) {
    const { pairs, mark, skip } = sentBefore;
    const sheet = format.sheet?.name ?? null;
    const list = { path: options.path, columns, recipient: consumer.recipientColumn, sheet };
    const pairsByLine = () => consumer.pairsByLine();
    const { templates, gsm } = options;
    await mark({ ...list, templates, gsm, pairsByLine }, consumer.reportedRows);
    if (skip) consumer.skipSent(pairs);
  }
  return { ...table, planner: consumer, recipients };
}

/** Merges the duplicates, lays out the requests and writes the files; without requests if rejects prevent a plan. */
async function freeze(
  { format, columns, hiddenRows, unread, planner, recipients }: PlannedRows,
  source: string,
  options: PlanOptions,
  files: PlanFolder,
  disk: PlanDisk,
): Promise<PlanOutcome> {
  const { channel, folder } = options;
  const { messages, rows } = planner;
  const duplicates = new Duplicates();
  duplicates.find(rows, recipients, messages.counts, options.allowRepeats ?? false);
  const later =
    options.first === undefined ? 0 : takeFirst(options.first, planner, duplicates, options.sentBefore);
  const layout = new Layout(messages, recipients.maxBytes);
  const priceOf = pricesOf(channel, messages, options.pricing);
  const draft: PlanDraft = { rows, duplicates, messages, recipients, layout, priceOf };
  writePlaces(draft, files);

  const origins = planner.reportedRows.origins();
  const cost = costOf(channel, messages, priceOf);
  const meta: PlanMeta = {
    version: options.hold ? 3 : 2,
    channel,
    baseUrl: options.baseUrl,
    digest: '',
    source,
    ...(options.path === undefined ? {} : { path: options.path }),
    ...(origins.length === 0 ? {} : { sources: await sourcesOf(origins, options) }),
    columns,
    created_at: options.createdAt,
    run: options.run ?? null,
    templates: options.templates,
    options: options.options ?? {},
    ...(options.like === undefined ? {} : { like: options.like }),
    ...(options.maxCredits === undefined ? {} : { limit: options.maxCredits }),
    account: options.account ?? null,
    recipients: layout.recipients,
    merged: duplicates.merged,
    rejected: planner.rejected + duplicates.conflicts,
    ...(options.excluded === undefined ? {} : { excluded: planner.leftOut.exclude }),
    ...(options.first === undefined
      ? {}
      : { rest: { recipients: later, options: options.listOptions ?? {} } }),
    repaired: recipients.repaired,
    requests: layout.requests,
    batches: layout.requests - layout.singles,
    singles: layout.singles,
    cost,
    credits: cost.reduce((sum, { credits }) => sum + credits, 0),
  };
  const table = { ...format, recipient: planner.recipientColumn };
  const record: PlanRecord = { meta, table, files: files.unknownChecksums() };
  const plan = planOf(folder, record, disk);
  const outcome = {
    meta,
    rejects: { count: 0, first: [], rows: [], quoted: [], file: null } as Rejects,
    repairs: recipients.repairs,
    rows: rows.length,
    leftOut: planner.leftOut,
    later,
    reportedRows: planner.reportedRows,
    isNew: planner.isNew && options.gsm !== true,
    replaced: messages.replaced,
    placeholders: [...planner.placeholders.values()],
    fallbacks: planner.fallbacks((row) => duplicates.isUnsent(row)),
    alreadySent: planner.alreadySent,
    delimiter: format.sheet === undefined ? format.delimiter : null,
    sheet: format.sheet?.name ?? null,
    hiddenRows,
    leavesOutHidden: options.visibleOnly ?? false,
    unread,
    toColumn: columns[planner.recipientColumn] ?? '',
  };
  if (meta.rejected > 0) {
    files.flush();
    outcome.rejects = await writeRejects(plan, options.rejects ?? null, disk);
  }
  if (layout.recipients === 0 || (meta.rejected > 0 && options.skipInvalid !== true)) {
    files.discard();
    return { plan: null, preview: null, ...outcome };
  }
  // The pairs take as much memory as the rest of a window.
  const window = options.sentBefore ? { windowRecipients: 125_000 } : {};
  files.writeOrigins(origins);
  await writeRequests(draft, files, { ...window, ...options });
  record.files = files.finishData();
  meta.digest = record.files.bodies.sha256;
  const { messages: different, longest } = messages.survey();
  const preview = await previewOf(plan, layout.firstRequest(longest), different);
  if (options.hold) {
    const { meta: _, rejects: __, reportedRows: ___, placeholders: ____, ...shown } = outcome;
    meta.held = { ...shown, preview };
  }
  files.finish(record);
  return { plan, preview, ...outcome };
}

const sourcesOf = (origins: readonly Origin[], { digestOf }: PlanOptions) =>
  Promise.all(
    [...new Set(origins.map(([job]) => job))].map(
      async (job): Promise<Source> => ({ job, digest: (await digestOf?.(job)) ?? null }),
    ),
  );
