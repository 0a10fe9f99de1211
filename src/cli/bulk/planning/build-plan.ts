import { join } from 'node:path';
import type { Channel, OperatorTable, Pricing } from '../../../contract/index.js';
import { columnNamed, findRecipientColumn } from '../input/columns.js';
import type { Delimiter } from '../input/delimiter.js';
import { InputError } from '../input/input-error.js';
import { readTable } from '../input/read-table.js';
import { type Recipients, recipientsOf } from '../input/recipients.js';
import type { RepairCounts } from '../input/repair.js';
import type { FrozenPlan, PlanMeta } from '../plan.js';
import { BlockFile } from './block-file.js';
import { costOf, pricesOf } from './cost.js';
import { type Disk, nodeDisk, syncFolder } from './disk.js';
import { Layout } from './layout.js';
import { bindMessage, type MessageTemplates, parseTemplates } from './message.js';
import { Messages } from './messages.js';
import { type PlanRecord, planFile, type SealedFile, sealedFiles } from './plan-files.js';
import { planOf } from './plan-reader.js';
import { type PlanParts, writeChunks, writePlaces } from './plan-writer.js';
import { type Rejects, writeRejects } from './rejects.js';
import { RowIntake } from './row-intake.js';
import { RowSpool } from './row-spool.js';

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
  toColumn?: string | undefined;
  /** A WHATWG label, such as `windows-1251`. */
  encoding?: string | undefined;
  delimiter?: Delimiter | undefined;
  headerless?: boolean | undefined;
  /** Takes only rows whose `status` column has one of these. */
  only?: readonly string[] | undefined;
  /** Plans a recipient once for each of its messages, instead of refusing the second. */
  allowRepeats?: boolean | undefined;
  /** Plans the good rows although there are bad ones. */
  skipInvalid?: boolean | undefined;
  /** Where rejected rows are written, if there are any; in the plan's folder when absent. */
  rejectsFile?: string | undefined;
  operators?: OperatorTable | undefined;
  signal?: AbortSignal | undefined;
  disk?: Disk | undefined;
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
  delimiter: Delimiter;
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
    const recipients = recipientsOf(options.channel, options.operators, () => files.scratch('addresses'));
    const spool = new RowSpool(files.scratch('rows'));
    const started: { intake: RowIntake; messages: Messages }[] = [];
    const copy = files.sealed('input.csv');
    const { format, columns } = await readTable(input, options, {
      copy: (block) => copy.append(block),
      onHeader(header, line) {
        const messages = new Messages(
          bindMessage(options.channel, templates, header),
          files.scratch('messages'),
        );
        const intakeColumns = columnsOf(header, line, input.source, options, recipients);
        const intake = new RowIntake(intakeColumns, recipients, messages, spool, files.sealed('errors'));
        started.push({ intake, messages });
        return intake;
      },
    });
    const { intake, messages } = started[0] ?? { intake: null, messages: null };
    if (intake === null || spool.length === intake.notChosen) throw nobody(input.source, options.only);

    spool.finish();
    messages.finish();
    intake.repeats.settle(spool, messages.counts, options.allowRepeats ?? false);
    const layout = new Layout(messages, recipients.maxBytes);
    const priceOf = pricesOf(options.channel, messages, options.pricing);
    const parts: PlanParts = { spool, repeats: intake.repeats, messages, recipients, layout, priceOf };
    writePlaces(parts, files.sealed('places'));

    const cost = costOf(options.channel, messages, priceOf);
    const meta: PlanMeta = {
      version: 1,
      channel: options.channel,
      baseUrl: options.baseUrl,
      digest: '',
      source: input.source,
      columns,
      created_at: options.createdAt,
      recipients: layout.recipients,
      merged: intake.repeats.merged,
      rejected: intake.rejected + intake.repeats.conflicts,
      repaired: recipients.repaired,
      chunks: layout.chunks,
      batches: layout.chunks - layout.singles,
      singles: layout.singles,
      cost,
      credits: cost.reduce((sum, { credits }) => sum + credits, 0),
    };
    const record: PlanRecord = { meta, table: format, files: files.unsealed() };
    const outcome = { meta, repairs: recipients.repairs, notChosen: intake.notChosen, ...format };
    let rejects: Rejects = { count: 0, first: [], file: null };
    if (meta.rejected > 0) {
      files.flush();
      const path = options.rejectsFile ?? join(options.folder, 'rejects.csv');
      rejects = await writeRejects(
        planOf(options.folder, record, disk).rows(),
        columns,
        input.source,
        path,
        disk,
      );
    }
    if (layout.recipients === 0 || (rejects.count > 0 && options.skipInvalid !== true)) {
      files.discard();
      return { plan: null, rejects, ...outcome };
    }
    const chunkFiles = {
      bodies: files.sealed('bodies'),
      chunks: files.sealed('chunks'),
      lines: files.sealed('lines'),
    };
    await writeChunks(parts, chunkFiles, options.signal);
    record.files = files.seal();
    meta.digest = record.files.bodies.sha256;
    files.finish(record);
    return { plan: planOf(options.folder, record, disk), rejects, ...outcome };
  } catch (error) {
    files.discard();
    throw error;
  }
}

function columnsOf(
  names: string[],
  line: number,
  source: string,
  options: PlanOptions,
  recipients: Recipients,
): ConstructorParameters<typeof RowIntake>[0] {
  const recipient = findRecipientColumn({
    channel: options.channel,
    columns: names,
    toColumn: options.toColumn,
    headerless: options.headerless ?? false,
    source,
    line,
    looksLikeRecipient: (cell) => recipients.read(cell) === null,
  });
  if (options.only === undefined) return { names, recipient, chosen: null };
  const column = columnNamed(names, 'status');
  if (column !== -1) return { names, recipient, chosen: { column, statuses: new Set(options.only) } };
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

/** The files of a plan while it is being written. */
class PlanFolder {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #sealed = new Map<SealedFile, BlockFile>();
  readonly #scratch: BlockFile[] = [];

  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
  }

  sealed(name: SealedFile): BlockFile {
    const file = new BlockFile(this.#disk, join(this.#folder, name), { sealed: true });
    this.#sealed.set(name, file);
    return file;
  }

  scratch(name: string): BlockFile {
    const file = new BlockFile(this.#disk, join(this.#folder, `${name}.tmp`), { sealed: false });
    this.#scratch.push(file);
    return file;
  }

  flush(): void {
    for (const file of this.#sealed.values()) file.flush();
  }

  unsealed(): PlanRecord['files'] {
    return recordOf(() => ({ bytes: 0, sha256: '' }));
  }

  seal(): PlanRecord['files'] {
    return recordOf((name) => {
      const seal = this.#sealed.get(name)?.seal();
      if (seal === undefined) throw new Error(`${name} was not written`);
      return seal;
    });
  }

  /** Writes the record, removes what only the planning needed, and makes the folder durable. */
  finish(record: PlanRecord): void {
    const file = new BlockFile(this.#disk, join(this.#folder, planFile), { sealed: false });
    file.appendText(`${JSON.stringify(record, null, 2)}\n`);
    file.seal();
    this.#drop(this.#scratch);
    syncFolder(this.#disk, this.#folder);
  }

  /** Leaves nothing behind but the rejects file. */
  discard(): void {
    this.#drop([...this.#sealed.values(), ...this.#scratch]);
  }

  #drop(files: BlockFile[]): void {
    for (const file of files) {
      file.close();
      this.#disk.remove(file.path);
    }
  }
}

function recordOf<T>(make: (name: SealedFile) => T): Record<SealedFile, T> {
  return Object.fromEntries(sealedFiles.map((name) => [name, make(name)])) as Record<SealedFile, T>;
}
