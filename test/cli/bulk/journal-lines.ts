import { createHash } from 'node:crypto';
import type { Entry } from '../../../src/cli/bulk/job/journal.js';

/** A line of a journal, as it stands in the file. */
export function checksummed(entries: readonly Entry[]): string {
  const text = JSON.stringify(entries);
  return `${createHash('sha256').update(text).digest('hex').slice(0, 16)} ${text}\n`;
}
