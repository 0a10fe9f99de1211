import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Table, type TableFormat } from '../input/table-parser.js';
import { BlockReader } from './buffered-file.js';
import type { FrozenPlan, PlanMeta, PlannedInput, PlannedRequest, PlannedRow } from './plan.js';
import { type Disk, nodeDisk } from './plan-disk.js';
import {
  metaOf,
  noRequest,
  type PlanRecord,
  placeBytes,
  planFile,
  planMark,
  type RowError,
  requestBytes,
  sealedFiles,
  type WrittenMeta,
} from './plan-format.js';

/** A plan's folder that is not as it was written; nothing may be sent from it. */
export class PlanDamaged extends Error {
  override readonly name = 'PlanDamaged';
  constructor(folder: string, what: string, options?: ErrorOptions) {
    super(`${folder}: ${what}`, options);
  }
}

/** The summary of a plan, without reading the rest of it. */
export async function readPlanMeta(folder: string): Promise<PlanMeta> {
  return (await readRecord(folder)).meta;
}

/**
 * Opens a frozen plan after checking every byte of it against its seal. Throws PlanDamaged when it is not
 * what was written, and the system's error when a file cannot be read.
 */
export async function openPlan(folder: string): Promise<FrozenPlan> {
  const record = await readRecord(folder);
  for (const name of sealedFiles) {
    const seal = record.files[name];
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const block of createReadStream(join(folder, name)) as AsyncIterable<Buffer>) {
      hash.update(block);
      bytes += block.length;
    }
    if (bytes !== seal?.bytes || hash.digest('hex') !== seal.sha256) {
      throw new PlanDamaged(folder, `${name} is not as it was written`);
    }
  }
  return planOf(folder, record);
}

async function readRecord(folder: string): Promise<PlanRecord> {
  const bytes = await readFile(join(folder, planFile));
  const { version, text } = textOf(folder, bytes);
  try {
    const record = JSON.parse(text) as Omit<PlanRecord, 'meta'> & { meta: WrittenMeta };
    if (record.meta.version === version) {
      const written = metaOf(record.meta);
      const meta = version === 1 ? { ...written, run: null, account: null } : written;
      if (isWhole({ ...record, meta })) return { ...record, meta };
    }
  } catch (cause) {
    throw new PlanDamaged(folder, `${planFile} cannot be read`, { cause });
  }
  throw new PlanDamaged(folder, `${planFile} is not as it was written`);
}

/** The record as JSON, checked against the checksum before it; version 1 had none. */
function textOf(folder: string, bytes: Buffer): { version: 1 | 2; text: string } {
  if (bytes[0] === '{'.charCodeAt(0)) return { version: 1, text: bytes.toString() };
  const end = bytes.indexOf(10) + 1;
  const [mark, version, checksum] = bytes.toString('latin1', 0, Math.max(0, end - 1)).split(' ');
  if (mark !== planMark) throw new PlanDamaged(folder, `${planFile} cannot be read`);
  if (version !== '2') throw new PlanDamaged(folder, 'it was written by another version of urtuu');
  const rest = bytes.subarray(end);
  if (createHash('sha256').update(rest).digest('hex') !== checksum) {
    throw new PlanDamaged(folder, `${planFile} is not as it was written`);
  }
  return { version: 2, text: rest.toString() };
}

/** Whether its figures agree with each other and with the sizes of its files. */
function isWhole({ meta, files }: PlanRecord): boolean {
  const { channel, requests, batches, singles, recipients, digest } = meta;
  return (
    (channel === 'sms' || channel === 'email') &&
    batches + singles === requests &&
    files.chunks.bytes === requests * requestBytes &&
    files.lines.bytes === recipients * 4 &&
    files.bodies.sha256 === digest
  );
}

/** A plan that was just written, or checked. */
export function planOf(folder: string, record: PlanRecord, disk: Disk = nodeDisk): FrozenPlan {
  return {
    folder,
    meta: record.meta,
    input: inputOf(record.table),
    requests: (first = 0) => readRequests(folder, record, disk, first),
    rows: () => readPlannedRows(folder, record, disk),
  };
}

function inputOf({ marked = false, recipient, sheet }: TableFormat): PlannedInput {
  return { marked, recipient: recipient ?? null, ...(sheet === undefined ? {} : { sheet }) };
}

async function* readRequests(
  folder: string,
  { meta, files }: PlanRecord,
  disk: Disk,
  first: number,
): AsyncGenerator<PlannedRequest, void> {
  const opened: number[] = [];
  const reader = (name: string) => {
    const file = disk.open(join(folder, name), 'r');
    opened.push(file);
    return new BlockReader(disk, file);
  };
  try {
    const [bodies, requests, lines] = [reader('bodies'), reader('chunks'), reader('lines')];
    for (let number = first; number < meta.requests; number += 1) {
      const last = number === meta.requests - 1;
      const record = requests.read(number * requestBytes, requestBytes * (last ? 1 : 2));
      const start = record.readDoubleLE(0);
      const begin = record.readUInt32LE(16);
      const end = last ? meta.recipients : record.readUInt32LE(requestBytes + 16);
      const size = (last ? files.bodies.bytes : record.readDoubleLE(requestBytes)) - start;
      const kind = record.readUInt32LE(20) === 1 ? 'batch' : 'single';
      const credits = record.readDoubleLE(8);
      const body = bodies.read(start, size).toString();
      const { to } = JSON.parse(body) as { to: string | string[] };
      const rowLines = lines.read(begin * 4, (end - begin) * 4);
      yield {
        number,
        kind,
        to: typeof to === 'string' ? [to] : to,
        lines: Array.from({ length: end - begin }, (_, index) => rowLines.readUInt32LE(index * 4)),
        body,
        credits,
      };
    }
  } finally {
    for (const file of opened) disk.close(file);
  }
}

async function* readPlannedRows(
  folder: string,
  { table: format, meta }: PlanRecord,
  disk: Disk,
): AsyncGenerator<PlannedRow, void> {
  const placesFile = disk.open(join(folder, 'places'), 'r');
  const errors = readErrors(join(folder, 'errors'));
  try {
    const places = new BlockReader(disk, placesFile);
    let read: { record: string[]; line: number }[] = [];
    let row = 0;
    const table = new Table(
      format,
      meta.source,
      () => undefined,
      (record, line) => read.push({ record, line }),
    );
    async function* planned(): AsyncGenerator<PlannedRow, void> {
      for (const { record, line } of read) {
        const place = places.read(row * placeBytes, placeBytes);
        const [request, index] = [place.readUInt32LE(0), place.readUInt32LE(4)];
        row += 1;
        if (request === noRequest.notChosen) continue;
        while (record.length < meta.columns.length) record.push('');
        const error =
          request === noRequest.rejected
            ? errorText((await errors.next()).value ?? [])
            : request === noRequest.conflict
              ? conflictError(index)
              : null;
        yield { line, values: record, place: error === null ? { request, index } : null, error };
      }
      read = [];
    }
    for await (const block of createReadStream(join(folder, 'input.csv')) as AsyncIterable<Buffer>) {
      await table.feed(block);
      yield* planned();
    }
    await table.finish();
    yield* planned();
  } finally {
    disk.close(placesFile);
    await errors.return();
  }
}

function conflictError(line: number): string {
  return `line ${line} has the same recipient with another message`;
}

function errorText(errors: readonly RowError[]): string | null {
  if (errors.length === 0) return null;
  return errors.map(({ column, error }) => `${column}: ${error}`).join('; ');
}

/** What is wrong with each rejected row, in the order of the rows. */
export async function* readErrors(path: string): AsyncGenerator<RowError[], void> {
  let errors: RowError[] = [];
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    const entry = JSON.parse(text) as RowError;
    if (errors.length > 0 && errors[0]?.row !== entry.row) {
      yield errors;
      errors = [];
    }
    errors.push(entry);
  }
  if (errors.length > 0) yield errors;
}
