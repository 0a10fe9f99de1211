import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lockHolder } from '../../platform/lock.js';
import { answeredIn } from './counts.js';
import type { JobState } from './job-state.js';

/** Null while unknown. */
export interface Running {
  pid: number | null;
  /** Recipients a second since this run started. */
  rate: number | null;
  seconds_left: number | null;
}

/** Stored beside the journal during a run, for `jobs list` and `jobs show`. */
interface RunNote {
  pid: number;
  /** Milliseconds since 1970. */
  since: number;
  /** Open requests, and recipients with an outcome, at that time. */
  open: number;
  settled: number;
  /** When the last known wait ends, in milliseconds since 1970; absent before the first. */
  waits_until?: number;
}

const noteFile = 'running';

/** The note is updated when the wait is longer by this many milliseconds. */
const longerBy = 1_000;

/**
 * Returns a function that notes how long the run waits. Nothing depends on the note, so the job ignores disk errors.
 */
export async function noteRun(
  folder: string,
  state: JobState,
  now: number,
): Promise<(waitsUntil: number) => Promise<void>> {
  const note: RunNote = { pid: process.pid, since: now, open: state.open, settled: answeredOf(state) };
  const write = () =>
    writeFile(join(folder, noteFile), JSON.stringify(note), { mode: 0o600 }).catch(() => {});
  await write();
  return async (waitsUntil) => {
    if (waitsUntil - (note.waits_until ?? now) < longerBy) return;
    note.waits_until = waitsUntil;
    await write();
  };
}

export async function forgetRun(folder: string): Promise<void> {
  await rm(join(folder, noteFile), { force: true }).catch(() => {});
}

/** Null if no process runs the job. */
export async function runningOf(folder: string, state: JobState, now: number): Promise<Running | null> {
  const holder = await lockHolder(folder);
  if (holder === null) return null;
  const note = await readFile(join(folder, noteFile), 'utf8').then(parse, () => null);
  // A killed run left the note.
  if (note === null || (holder.pid !== null && holder.pid !== note.pid)) {
    return { pid: holder.pid, rate: null, seconds_left: null };
  }
  const seconds = (now - note.since) / 1_000;
  const sent = answeredOf(state) - note.settled;
  const requests = note.open - state.open;
  const wait = ((note.waits_until ?? now) - now) / 1_000;
  const isKnown = seconds > 0 && requests > 0;
  return {
    pid: holder.pid ?? note.pid,
    rate: isKnown ? Math.round((sent / seconds) * 10) / 10 : null,
    seconds_left: isKnown ? Math.ceil(Math.max((state.open * seconds) / requests, wait)) : null,
  };
}

const answeredOf = (state: JobState) => answeredIn(state.counts);

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
