import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { machineError } from '../errors.js';
import { type HistoryEntry, newestFirst, subjectOf } from './entry.js';

export const maxAge = 90 * 86_400_000;

export const historyFile = (stateDirectory: string): string => join(stateDirectory, 'history.ndjson');

/** The sends of this machine in the last 90 days, newest first. Throws CliError (exit 13). */
export function readHistory(stateDirectory: string, now: number): HistoryEntry[] {
  const since = new Date(now - maxAge).toISOString();
  const entries = linesOf(historyFile(stateDirectory)).map(entryOf);
  return newestOfEach(entries.filter((entry) => entry !== null && entry.time >= since) as HistoryEntry[]);
}

export function clearHistory(stateDirectory: string): void {
  const file = historyFile(stateDirectory);
  try {
    rmSync(file, { force: true });
  } catch (error) {
    throw machineError(`cannot delete ${file}`, error);
  }
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw machineError(`cannot read ${file}`, error, 'Start a new one with: `urtuu history --clear`');
  }
}

/** Null for an incomplete line. */
export function entryOf(line: string): HistoryEntry | null {
  try {
    const entry = JSON.parse(line) as Partial<HistoryEntry> | null;
    return typeof entry?.time === 'string' && typeof entry.status === 'string'
      ? (entry as HistoryEntry)
      : null;
  } catch {
    return null;
  }
}

/** A resumed job, or a send repeated under its key, has an entry for each time. */
function newestOfEach(entries: readonly HistoryEntry[]): HistoryEntry[] {
  const seen = new Set<string>();
  return entries
    .toReversed()
    .filter((entry) => {
      const subject = subjectOf(entry);
      const isNew = subject === null || !seen.has(subject);
      if (subject !== null) seen.add(subject);
      return isNew;
    })
    .sort(newestFirst);
}
