import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lockHolder } from '../../platform/lock.js';
import type { JobState } from './job-state.js';

/** How fast a running job is; null where that is not known yet. */
export interface Running {
  pid: number | null;
  /** Recipients a second since this run began. */
  rate: number | null;
  seconds_left: number | null;
}

/** What a run leaves beside its journal while it goes on, for those who look at it. */
interface RunNote {
  pid: number;
  /** Milliseconds since 1970. */
  since: number;
  /** Requests and recipients that were still to be sent then. */
  open: number;
  settled: number;
}

const noteFile = 'running';

/** Notes that a run begins. It is only looked at: a disk that does not take it stops nothing. */
export async function noteRun(folder: string, table: JobState, now: number): Promise<void> {
  const note: RunNote = { pid: process.pid, since: now, open: table.open, settled: settledOf(table) };
  await writeFile(join(folder, noteFile), JSON.stringify(note), { mode: 0o600 }).catch(() => {});
}

export async function forgetRun(folder: string): Promise<void> {
  await rm(join(folder, noteFile), { force: true }).catch(() => {});
}

/** How a job runs; null when no process works on it. */
export async function runningOf(folder: string, table: JobState, now: number): Promise<Running | null> {
  const holder = await lockHolder(folder);
  if (holder === null) return null;
  const note = await readFile(join(folder, noteFile), 'utf8').then(parse, () => null);
  // A note of a run that was killed says nothing of this one.
  if (note === null || (holder.pid !== null && holder.pid !== note.pid)) {
    return { pid: holder.pid, rate: null, seconds_left: null };
  }
  const seconds = (now - note.since) / 1_000;
  const [sent, requests] = [settledOf(table) - note.settled, note.open - table.open];
  const isKnown = seconds > 0 && requests > 0;
  return {
    pid: holder.pid ?? note.pid,
    rate: isKnown ? Math.round((sent / seconds) * 10) / 10 : null,
    seconds_left: isKnown ? Math.ceil((table.open * seconds) / requests) : null,
  };
}

const settledOf = ({ tally }: JobState) => tally.accepted + tally.rejected + tally.failed;

function parse(text: string): RunNote | null {
  try {
    const note = JSON.parse(text) as Partial<Record<keyof RunNote, unknown>> | null;
    const { pid, since, open, settled } = note ?? {};
    const isWhole = [pid, since, open, settled].every((each) => typeof each === 'number');
    return isWhole ? (note as RunNote) : null;
  } catch {
    return null;
  }
}
