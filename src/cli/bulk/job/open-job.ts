import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CliError, machineError, refusedError, refusedSend } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { lockFolder } from '../../platform/lock.js';
import type { HeldLock } from '../../platform/lock-types.js';
import { openPlan, readPlanMeta } from '../plan/files/plan-reader.js';
import type { FrozenPlan, PlanMeta } from '../plan/plan.js';
import { JobState } from './job-state.js';
import { isNoJob, jobFolder, noJob, removeJobFolder } from './jobs-folder.js';
import { nodeDisk } from './journal/append-file.js';
import { Journal } from './journal/journal.js';
import { BrokenJournalError, journalFile, NewerJournalError, readJournal } from './journal/journal-reader.js';
import { moveTaken, Takers } from './takers.js';

/** A job's state, readable even while another process runs the job. */
export interface JobView {
  readonly id: string;
  readonly folder: string;
  readonly meta: PlanMeta;
  readonly state: JobState;
}

/** A job opened exclusively by this process. */
export interface Job extends JobView {
  readonly plan: FrozenPlan;
  readonly journal: Journal;
  close(): Promise<void>;
  /** Closes and removes the job. */
  discard(): Promise<void>;
}

export interface FollowedJob extends JobView {
  /** Reads the entries since the last read. Throws CliError (exit 12) once the job is removed. */
  update(): Promise<void>;
}

/** Without its journal, a job does not know which of its rows were moved to another job. */
const withoutJournal =
  'the idempotency keys prevent duplicates. If another job has sent failed rows since, never add --retry-failed to this one.';

/** Opens a job. Throws CliError: exit 12 if there is no such job, 11 if another process runs it. */
export async function openJob(stateDirectory: string, id: string): Promise<Job> {
  const folder = await jobFolder(stateDirectory, id);
  const lock = await lockJob(id, folder);
  let opened: Journal | null = null;
  try {
    const plan = await openPlan(folder);
    const { meta } = plan;
    const { digest } = meta;
    const state = new JobState(meta);
    const journal = await Journal.open(nodeDisk, join(folder, journalFile), (entry) => state.apply(entry));
    opened = journal;
    if (state.job === null) await journal.append({ type: 'job', id, digest });
    else if (state.job.id !== id || state.job.digest !== digest) throw otherJournal(id);
    const job = { id, folder, meta, state };
    await moveTaken(job, await Takers.in(stateDirectory));
    return {
      ...{ ...job, plan, journal },
      async close() {
        await journal.close();
        await lock.release();
      },
      async discard() {
        await journal.close();
        await removeJobFolder(folder, lock);
      },
    };
  } catch (error) {
    await opened?.close();
    await lock.release();
    throw jobError({ id, folder }, error);
  }
}

/** Throws CliError (exit 11) if another process holds the lock. */
export async function lockJob(id: string, folder: string): Promise<HeldLock> {
  const lock = await onJob({ id, folder }, lockFolder(folder));
  if (lock.held) return lock;
  const pid = lock.pid === null ? '' : ` (pid ${lock.pid})`;
  const hint = `See its progress: \`urtuu jobs watch ${id}\``;
  throw refusedError('job_locked', `the job ${id} is already running${pid}`, hint, {
    job: id,
    pid: lock.pid,
  });
}

/** How people name a plan: the first characters of its digest. */
export const planName = (digest: string): string => digest.slice(0, 8);

/** Exit 11 for a held job: only a command with its name and plan starts it. `command`: that one. */
export function jobHeld(
  { id, meta, state }: Pick<JobView, 'id' | 'meta' | 'state'>,
  command: string,
): CliError {
  const details = { job: id, plan: planName(meta.digest), ...state.counts };
  return refusedSend('job_held', `the job ${id} is held`, `To send it: ${command}`, details);
}

/** Reads the state of a job without changing it. Throws CliError (exit 12) if there is no such job. */
export const viewJob: (stateDirectory: string, id: string, takers?: Takers) => Promise<JobView> = followJob;

/** The same; null for a job that does not exist, or was removed meanwhile. */
export const viewJobIfAny = (stateDirectory: string, id: string): Promise<JobView | null> =>
  viewJob(stateDirectory, id).catch((error) => {
    if (isNoJob(error)) return null;
    throw error;
  });

/** Like `viewJob`, for a job that is read repeatedly. */
export async function followJob(stateDirectory: string, id: string, known?: Takers): Promise<FollowedJob> {
  const folder = await jobFolder(stateDirectory, id);
  try {
    const meta = await readPlanMeta(folder);
    const takers = known ?? (await Takers.in(stateDirectory));
    let state = new JobState(meta);
    let end = 0;
    const update = async () => {
      const isNew = end === 0;
      if (isNew) state = new JobState(meta);
      const { whole, ended } = await readJournal(folder, { start: end }, (entry) => state.apply(entry));
      if (isNew) await moveTaken({ id, folder, meta, state }, takers);
      // The next run rewrites a last line without a newline.
      end = ended ? end + whole : 0;
    };
    await update();
    return {
      id,
      folder,
      meta,
      get state() {
        return state;
      },
      update: () => onJob({ id, folder }, update()),
    };
  } catch (error) {
    throw jobError({ id, folder }, error);
  }
}

function otherJournal(id: string): CliError {
  return new CliError('job_damaged', exits.machine, `the journal of ${id} belongs to another job`, {
    hint: `Move the journal away: ${withoutJournal}`,
  });
}

/** The outcome of an operation on the files of a job. Rejects with `jobError`. */
export const onJob = <Value>(
  job: Pick<JobView, 'id' | 'folder'>,
  operation: Promise<Value>,
): Promise<Value> =>
  operation.catch((error) => {
    throw jobError(job, error);
  });

/** The error for a failed operation on the files of a job, which may have been removed meanwhile. */
function jobError({ id, folder }: Pick<JobView, 'id' | 'folder'>, error: unknown): unknown {
  if (error instanceof CliError) return error;
  if (!existsSync(folder)) return noJob(id);
  if (error instanceof BrokenJournalError) {
    const journal = join(folder, journalFile);
    return machineError(error.message, error, `Move ${journal} away and run it again: ${withoutJournal}`);
  }
  if (error instanceof NewerJournalError) {
    return machineError(error.message, error, 'Use the version of urtuu that wrote it, or a newer one.');
  }
  return machineError(`the job ${id} cannot be used: ${(error as Error).message}`, error);
}
