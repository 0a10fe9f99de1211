import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { once } from '../../../once.js';
import { RowParser } from '../../input/row-parser.js';
import { Table } from '../../input/table.js';
import type { FrozenPlan, PlanMeta, PlannedRequest, PlannedRow } from '../plan.js';
import { recipientsOf } from './body-recipients.js';
import { BufferedReader, type FileChecksum } from './buffered-file.js';
import { readChecksummedText } from './checksummed-text.js';
import { nodePlanDisk, type PlanDisk } from './plan-disk.js';
import {
  dataFiles,
  metaOf,
  noRequest,
  originsFile,
  type PlanRecord,
  placeBytes,
  planFile,
  planKind,
  type RowError,
  requestBytes,
  type WrittenMeta,
} from './plan-format.js';

const checkedAtOnce = 256 * 1024;

/** The files of a plan were changed since they were written; nothing may be sent from it. */
export class PlanDamaged extends Error {
  override readonly name = 'PlanDamaged';
  constructor(folder: string, what: string, options?: ErrorOptions) {
    super(`${folder}: ${what}`, options);
  }
}

/** Throws PlanDamaged. */
export async function readPlanMeta(folder: string): Promise<PlanMeta> {
  return (await readPlanRecord(folder)).meta;
}

/** Opens a plan and checks every byte of it. Throws PlanDamaged, or the system's error if a file cannot be read. */
export async function openPlan(folder: string): Promise<FrozenPlan> {
  const record = await readPlanRecord(folder);
  const origins = record.files[originsFile] === undefined ? [] : [originsFile];
  for (const name of [...dataFiles, ...origins] as const) {
    const written = record.files[name];
    const { bytes, sha256 } = await checksumOf(join(folder, name));
    if (bytes !== written?.bytes || sha256 !== written.sha256)
      throw new PlanDamaged(folder, `${name} is damaged`);
  }
  return planOf(folder, record);
}

/** Without a stream, which costs more than a small file: a plan has six files, most of them small. */
export async function checksumOf(path: string): Promise<FileChecksum> {
  const file = await open(path);
  try {
    const hash = createHash('sha256');
    const block = Buffer.allocUnsafeSlow(checkedAtOnce);
    for (let bytes = 0; ; ) {
      const { bytesRead } = await file.read(block, 0, block.length, bytes);
      if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') };
      hash.update(block.subarray(0, bytesRead));
      bytes += bytesRead;
    }
  } finally {
    await file.close();
  }
}

/** Throws PlanDamaged. */
export async function readPlanRecord(folder: string): Promise<PlanRecord> {
  const bytes = await readFile(join(folder, planFile));
  const { version, text } = textOf(folder, bytes);
  try {
    const record = JSON.parse(text) as Omit<PlanRecord, 'meta'> & { meta: WrittenMeta };
    if (record.meta.version === version) {
      const written = metaOf(record.meta);
      const meta = version === 1 ? { ...written, run: null, account: null } : written;
      if (isConsistent({ ...record, meta })) return { ...record, meta };
    }
  } catch (cause) {
    throw new PlanDamaged(folder, `${planFile} cannot be read`, { cause });
  }
  throw new PlanDamaged(folder, `${planFile} is damaged`);
}

/** The record as JSON, verified by its checksum; version 1 has none. */
function textOf(folder: string, bytes: Buffer): { version: PlanMeta['version']; text: string } {
  if (bytes[0] === '{'.charCodeAt(0)) return { version: 1, text: bytes.toString() };
  const { kind, version, text } = readChecksummedText(bytes);
  if (kind !== planKind) throw new PlanDamaged(folder, `${planFile} cannot be read`);
  if (version !== '2' && version !== '3')
    throw new PlanDamaged(folder, 'written by another version of urtuu');
  if (text === null) throw new PlanDamaged(folder, `${planFile} is damaged`);
  return { version: version === '2' ? 2 : 3, text };
}

/** Whether the figures agree with one another and with the sizes of the files. */
function isConsistent({ meta, files }: PlanRecord): boolean {
  const { channel, requests, batches, singles, recipients, digest } = meta;
  return (
    (channel === 'sms' || channel === 'email') &&
    batches + singles === requests &&
    files.chunks.bytes === requests * requestBytes &&
    files.lines.bytes === recipients * 4 &&
    files.bodies.sha256 === digest
  );
}

/** The plan of a record that was just written, or checked. */
export function planOf(folder: string, record: PlanRecord, disk: PlanDisk = nodePlanDisk): FrozenPlan {
  return {
    folder,
    meta: record.meta,
    input: record.table,
    requests: (first = 0) => readRequests(folder, record, disk, first),
    rows: () => readPlannedRows(folder, record, disk),
  };
}

/** A request without its recipients and lines. */
interface WrittenRequest extends Pick<PlannedRequest, 'number' | 'kind' | 'body' | 'credits'> {
  /** The place of its first recipient among all, and how many it has. */
  begin: number;
  recipients: number;
}

function* readBodies(
  folder: string,
  { meta, files }: PlanRecord,
  disk: PlanDisk,
  first: number,
): Generator<WrittenRequest, void> {
  const opened: number[] = [];
  const reader = (name: string) => {
    const file = disk.open(join(folder, name), 'r');
    opened.push(file);
    return new BufferedReader(disk, file);
  };
  try {
    const bodies = reader('bodies');
    const requests = reader('chunks');
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
      yield { number, kind, body, credits, begin, recipients: end - begin };
    }
  } finally {
    for (const file of opened) disk.close(file);
  }
}

async function* readRequests(
  folder: string,
  record: PlanRecord,
  disk: PlanDisk,
  first: number,
): AsyncGenerator<PlannedRequest, void> {
  const file = disk.open(join(folder, 'lines'), 'r');
  try {
    const lines = new BufferedReader(disk, file);
    for (const { number, kind, body, credits, begin, recipients } of readBodies(
      folder,
      record,
      disk,
      first,
    )) {
      const to = recipientsOf(body);
      if (to.length !== recipients) throw new PlanDamaged(folder, 'bodies changed since it was checked');
      const lineBytes = Buffer.from(lines.read(begin * 4, recipients * 4));
      if (lineBytes.length < recipients * 4)
        throw new PlanDamaged(folder, 'lines was cut off since it was checked');
      // Not needed for a request that is sent whole.
      const rowLines = once(() =>
        Array.from({ length: recipients }, (_, index) => lineBytes.readUInt32LE(index * 4)),
      );
      yield {
        number,
        kind,
        to,
        get lines() {
          return rowLines();
        },
        body,
        credits,
      };
    }
  } finally {
    disk.close(file);
  }
}

/** Returns the body of a request of a plan that was opened: best called in their order. */
export async function bodyReader({ folder }: FrozenPlan): Promise<(number: number) => string> {
  const record = await readPlanRecord(folder);
  let bodies = readBodies(folder, record, nodePlanDisk, 0);
  let last: WrittenRequest | null = null;
  return (number) => {
    if (last?.number === number) return last.body;
    if (last === null || last.number + 1 !== number) {
      bodies.return();
      bodies = readBodies(folder, record, nodePlanDisk, number);
    }
    last = bodies.next().value ?? null;
    if (last === null) throw new PlanDamaged(folder, `there is no request ${number}`);
    return last.body;
  };
}

/** The bodies of a plan that was opened, in order. */
export async function* bodiesOf({ folder }: FrozenPlan): AsyncGenerator<WrittenRequest, void> {
  yield* readBodies(folder, await readPlanRecord(folder), nodePlanDisk, 0);
}

async function* readPlannedRows(
  folder: string,
  { table: format, meta }: PlanRecord,
  disk: PlanDisk,
): AsyncGenerator<PlannedRow, void> {
  const placesFile = disk.open(join(folder, 'places'), 'r');
  const errors = readErrors(join(folder, 'errors'));
  try {
    const places = new BufferedReader(disk, placesFile);
    let read: { record: string[]; line: number }[] = [];
    let row = 0;
    const taker = { take: (record: string[], line: number) => void read.push({ record, line }) };
    const table = new Table(format, meta.source, () => taker);
    const parser = new RowParser(format, meta.source, (record, line) => table.take(record, line));
    async function* planned(): AsyncGenerator<PlannedRow, void> {
      for (const { record, line } of read) {
        const place = places.read(row * placeBytes, placeBytes);
        const request = place.readUInt32LE(0);
        const index = place.readUInt32LE(4);
        row += 1;
        if (request === noRequest.skipped) continue;
        while (record.length < meta.columns.length) record.push('');
        const error =
          request === noRequest.rejected
            ? errorText((await errors.next()).value ?? [])
            : request === noRequest.conflict
              ? conflictError(index)
              : null;
        const isSent = error === null && request !== noRequest.excluded;
        yield { line, values: record, place: isSent ? { request, index } : null, error };
      }
      read = [];
    }
    for await (const block of createReadStream(join(folder, 'input.csv')) as AsyncIterable<Buffer>) {
      await parser.feed(block);
      yield* planned();
    }
    await parser.finish();
    yield* planned();
  } finally {
    disk.close(placesFile);
    await errors.return();
  }
}

function conflictError(line: number): string {
  return `same recipient as line ${line}, with another message`;
}

function errorText(errors: readonly RowError[]): string | null {
  if (errors.length === 0) return null;
  return errors.map(({ column, error }) => `${column}: ${error}`).join('; ');
}

/** The errors of each rejected row, in the order of the rows. */
export async function* readErrors(path: string): AsyncGenerator<RowError[], void> {
  let errors: RowError[] = [];
  for await (const text of linesOf(path)) {
    const entry = JSON.parse(text) as RowError;
    if (errors.length > 0 && errors[0]?.row !== entry.row) {
      yield errors;
      errors = [];
    }
    errors.push(entry);
  }
  if (errors.length > 0) yield errors;
}

/** Instead of readline, whose lines also end at U+2028 on Bun and Deno, which JSON does not escape. */
async function* linesOf(path: string): AsyncGenerator<string, void> {
  let rest = '';
  for await (const piece of createReadStream(path, 'utf8') as AsyncIterable<string>) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
