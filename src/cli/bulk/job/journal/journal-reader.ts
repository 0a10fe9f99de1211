import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { readAtOnce } from './append-file.js';
import { readCheckedLine, readLines } from './checked-line.js';
import { decodeEntry, type Entry } from './entries.js';

/** A line of the journal was changed after it was written. */
export class BrokenJournalError extends Error {
  override readonly name = 'BrokenJournalError';
  constructor(path: string, line: number) {
    super(`${path}:${line}: the journal is damaged`);
  }
}

/** The journal has an entry that is unknown to this version and must not be ignored. */
export class NewerJournalError extends Error {
  override readonly name = 'NewerJournalError';
  constructor(path: string, line: number, type: unknown) {
    super(`${path}:${line}: a newer version of urtuu wrote '${String(type)}' here`);
  }
}

export const journalFile = 'journal';

/** Reads the journal in a job's folder from a byte on; empty for a job that was never opened. */
export async function readJournal(
  folder: string,
  range: { start?: number; end?: number },
  onEntry: (entry: Entry) => void,
): Promise<{ whole: number; ended: boolean }> {
  const path = join(folder, journalFile);
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && existsSync(folder)) return null;
    throw error;
  });
  if (file === null) return { whole: 0, ended: true };
  return readEntries(file.createReadStream({ ...range, highWaterMark: readAtOnce }), path, onEntry);
}

/** More than the entries of a group commit that ends a run. */
const lastBytes = 4096;

/** The last entry of a journal; null if there is none, or its line is too long. */
export async function lastEntry(folder: string): Promise<Entry | null> {
  const file = await open(join(folder, journalFile)).catch(() => null);
  if (file === null) return null;
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.min(size, lastBytes));
    await file.read(bytes, 0, bytes.length, size - bytes.length);
    const line = bytes.subarray(bytes.lastIndexOf(10, -2) + 1, -1);
    const encoded = (line.length === 0 ? null : readGroup(line))?.at(-1);
    return encoded === undefined ? null : decodeEntry(encoded);
  } finally {
    await file.close();
  }
}

/**
 * Reads a journal that another process may be writing, and skips a torn end: a last line without a newline, or with
 * zeros where a power cut lost data. Nothing was sent after it. Any other damage is refused. `whole` is where the
 * entries end; `ended` is false if only the last newline is wrong.
 */
export async function readEntries(
  bytes: AsyncIterable<Uint8Array>,
  path: string,
  onEntry: (entry: Entry) => void,
): Promise<{ whole: number; size: number; ended: boolean }> {
  let whole = 0;
  let size = 0;
  let lines = 0;
  let torn = 0;
  const decode = (group: readonly unknown[][]) => {
    for (const encoded of group) {
      const entry = decodeEntry(encoded);
      if (entry === null) throw new NewerJournalError(path, lines, encoded[0]);
      onEntry(entry);
    }
  };
  const rest = await readLines(bytes, (line) => {
    if (torn > 0) throw new BrokenJournalError(path, torn);
    lines += 1;
    size += line.length + 1;
    const group = readGroup(line);
    if (group !== null) {
      decode(group);
      whole = size;
    } else if (hasLostPages(line)) torn = lines;
    else throw new BrokenJournalError(path, lines);
  });
  size += rest.length;
  if (torn > 0 && rest.length > 0) throw new BrokenJournalError(path, torn);
  const unended = readGroup(rest.subarray(0, -1));
  if (unended === null) return { whole, size, ended: true };
  lines += 1;
  decode(unended);
  return { whole: size - 1, size, ended: false };
}

/** The entries of a group commit, still encoded. */
const readGroup = (line: Buffer) => readCheckedLine(line) as unknown[][] | null;

/** Whether a line has the zeros left by a power cut; a single zero byte is damage. */
function hasLostPages(line: Buffer): boolean {
  const at = line.indexOf(0);
  if (at === -1 || line.indexOf(0, at + 1) !== -1) return at !== -1;
  const restored = Buffer.from(line);
  for (let byte = 1; byte < 256; byte += 1) {
    restored[at] = byte;
    if (readGroup(restored) !== null) return false;
  }
  return true;
}
