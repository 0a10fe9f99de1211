import { createHash } from 'node:crypto';
import { decodeEntry, type Entry } from '../../../src/cli/bulk/job/journal/entries.js';

/** An entry as it is on the disk. */
export type Encoded = readonly [type: string, ...fields: unknown[]];

export function decoded(encoded: Encoded): Entry {
  const entry = decodeEntry(encoded);
  if (entry === null) throw new Error(`unknown entry ${encoded[0]}`);
  return entry;
}

/** A line of a journal file. */
export function checksummed(entries: readonly Encoded[]): string {
  const text = JSON.stringify(entries);
  return `${createHash('sha256').update(text).digest('hex').slice(0, 16)} ${text}\n`;
}
