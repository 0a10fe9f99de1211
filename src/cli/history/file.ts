import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Channel } from '../../contract/index.js';
import { machineError } from '../errors.js';

/** A send from this machine, without its text; a bulk job is one entry, with its counts. */
export interface HistoryEntry {
  /** ISO 8601, UTC. */
  time: string;
  /** `sandbox` for the embedded service. */
  base_url: string;
  /** Null for the embedded service. */
  profile: string | null;
  /** `sms send` */
  command: string;
  /** Null for several recipients. */
  to: string | null;
  channel: Channel | null;
  /** Of the message, batch or verification. */
  id: string | null;
  /** The service's answer; `in_doubt` without one. For a job, `finished` or `unfinished`. */
  status: string;
  /** The idempotency key. */
  key: string | null;
  job: string | null;
  /** Charged at acceptance; null if this machine does not know it. */
  credits?: number | null;
  /** The counts of a job; only `planned` while it runs, or if its process was killed. */
  planned?: number;
  accepted?: number;
  sent?: number;
  unknown?: number;
  queued?: number;
  failed?: number;
  suppressed?: number;
  rejected?: number;
  moved?: number;
  in_doubt?: number;
  pending?: number;
}

export type Sent = Pick<HistoryEntry, 'command' | 'status'> & Partial<HistoryEntry>;

export const newestFirst = (a: HistoryEntry, b: HistoryEntry): number =>
  a.time < b.time ? 1 : a.time > b.time ? -1 : 0;

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

/** What an entry is about, such as a job or a key, to recognise later entries about it. */
const subjectOf = ({ base_url, job, key, id }: HistoryEntry): string | null => {
  const subject = job ?? key ?? id;
  return subject === null ? null : `${base_url} ${job === null ? '' : 'job '}${subject}`;
};
