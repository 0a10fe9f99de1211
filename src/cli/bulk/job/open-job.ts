import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stateHint } from '../../config/folders.js';
import { makeFolder } from '../../config/make-folder.js';
import { CliError, machineError, usageError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { lockFolder } from '../../platform/lock.js';
import type { Lock } from '../../platform/lock-types.js';
import { renameFile } from '../../platform/rename.js';
import { grouped } from '../../wording.js';
import type { FrozenPlan, PlanMeta } from '../plan/plan.js';
import { differencesOf } from '../plan/plan-difference.js';
import { openPlan, readPlanMeta } from '../plan/plan-reader.js';
import { type BatchFigures, batchesIn } from '../results/summary.js';
import { type Disk, nodeDisk, syncFolder } from './append-file.js';
import { JobState } from './job-state.js';
import { BrokenJournalError, type Entry, Journal, NewerJournalError, readEntries } from './journal.js';
import { isJobName, jobIdOf, readJobId, repeatId } from './keys.js';

/** A job that this process alone works on. */
export interface Job {
  id: string;
  folder: string;
  plan: FrozenPlan;
  table: JobState;
  journal: Journal;
  close(): Promise<void>;
  /** Closes and forgets it. */
  discard(): Promise<void>;
}

/** A job as it can be looked at, also while another process works on it. */
export interface JobView {
  id: string;
  folder: string;
  meta: PlanMeta;
  table: JobState;
}

const journalFile = 'journal';
/** What is true without a journal: which rows were taken into another job stands nowhere else. */
const keysAlone =
  'the keys keep anything from being sent twice. If failed rows were sent by another job since, never add --retry-failed to this one.';
const unborn = '.new-';
const removed = '.removed-';
const dayOld = 86_400_000;
/** Of finding and opening a job: each further one means that other processes discarded it. */
const mostTries = 20;

/** Where jobs live; private to the person. */
export function jobsFolder(stateDirectory: string): string {
  return join(stateDirectory, 'jobs');
}

/** A name for a folder beside the jobs, where a plan is made before it is one. Removes what crashes left. */
export async function folderForPlan(stateDirectory: string, unique: string, now: number): Promise<string> {
  const jobs = jobsFolder(stateDirectory);
  try {
    makeFolder(jobs);
  } catch (error) {
    throw machineError(`the folder ${jobs} could not be made`, error, stateHint(error));
  }
  for (const name of await readdir(jobs)) {
    if (!name.startsWith(unborn) && !name.startsWith(removed)) continue;
    const age = now - (await stat(join(jobs, name)).catch(() => ({ mtimeMs: now }))).mtimeMs;
    if (age > dayOld) await rm(join(jobs, name), { recursive: true, force: true });
  }
  return join(jobs, `${unborn}${unique}`);
}

export interface JobChoice {
  /** Of `--job`; the plan names the job when absent. */
  name?: string | undefined;
  /** A deliberate repeat of a finished job. */
  again?: boolean | undefined;
  /** The command that goes on with a job. */
  goOn(job: JobView): string;
}

/**
 * Opens the job that a plan is: a new one that takes the plan's folder, or the one that it is already, which goes
 * on with the same keys. Throws CliError: exit 11 when another plan has that name or another process the job.
 */
export async function openJobOf(stateDirectory: string, plan: FrozenPlan, choice: JobChoice): Promise<Job> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await openJob(stateDirectory, await adoptPlan(stateDirectory, plan, choice));
    } catch (error) {
      // Another process discarded the job meanwhile, and a third one may have made it anew.
      if (tries === mostTries || !(isGone(error) || isFileMissing(error))) throw error;
    }
  }
}

/** Gives the job's id. */
async function adoptPlan(stateDirectory: string, plan: FrozenPlan, choice: JobChoice): Promise<string> {
  if (choice.name !== undefined && !isJobName(choice.name)) {
    throw usageError(
      `'${choice.name}' cannot be a job's name`,
      'Use letters, digits, dots, dashes and underscores; a dot and digits at the end are for repeats.',
    );
  }
  const base = choice.name ?? jobIdOf(plan.meta);
  const jobs = jobsFolder(stateDirectory);
  for (;;) {
    const runs = (await readdir(jobs)).map(readJobId).filter((each) => each.base === base);
    const last = Math.max(0, ...runs.map(({ run }) => run));
    if (last > 0) {
      const id = repeatId(base, last);
      const job = await viewJob(stateDirectory, id);
      await refuseOtherPlan(job, plan, choice.goOn);
      if (!choice.again || !job.table.finished) return id;
    }
    const id = repeatId(base, last + 1);
    try {
      await renameFile(plan.folder, join(jobs, id));
      await syncFolder(jobs);
      return id;
    } catch (error) {
      // Another process made it first: then it is looked at again.
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST')
        throw machineError(`the job ${id} could not be kept`, error);
    }
  }
}

async function refuseOtherPlan(
  job: JobView,
  plan: FrozenPlan,
  goOn: (job: JobView) => string,
): Promise<void> {
  const { id, meta } = job;
  const { digest, baseUrl, channel } = plan.meta;
  if (meta.digest === digest && meta.baseUrl === baseUrl && meta.channel === channel) return;
  const differences = await openPlan(job.folder)
    .then((kept) => differencesOf(kept, plan))
    .catch(() => ['its plan cannot be read']);
  const another = 'Give this one another --job name';
  throw new CliError(
    'job_differs',
    exits.refused,
    `the job ${id} is another one: ${differences.join('; ')}`,
    {
      hint: job.table.finished ? `${another}.` : `${another}; or go on with the old one: ${goOn(job)}`,
      details: { job: id, differences },
    },
  );
}

/** Opens a job to work on it. Throws CliError: exit 12 when it is not there, 11 when another process has it. */
export async function openJob(stateDirectory: string, id: string, disk: Disk = nodeDisk): Promise<Job> {
  const folder = await folderOf(stateDirectory, id);
  const lock = await lockFolder(folder).catch((error) => {
    throw jobError(id, folder, error);
  });
  if (!lock.held) {
    const holder = lock.pid === null ? 'another process' : `process ${lock.pid}`;
    throw new CliError('job_locked', exits.refused, `the job ${id} is being worked on by ${holder}`, {
      hint: `See how far it is: urtuu jobs show ${id}`,
      details: { job: id, pid: lock.pid },
    });
  }
  try {
    const plan = await openPlan(folder);
    const { digest } = plan.meta;
    const table = new JobState(plan.meta);
    const journal = await Journal.open(disk, join(folder, journalFile), (entry) => table.apply(entry));
    try {
      if (table.job === null) await journal.append(['job', id, digest]);
      else if (table.job.id !== id || table.job.digest !== digest) throw foreignJournal(id);
    } catch (error) {
      await journal.close();
      throw error;
    }
    return {
      id,
      folder,
      plan,
      table,
      journal,
      async close() {
        await journal.close();
        await lock.release();
      },
      async discard() {
        await journal.close();
        await removeFolder(folder, lock);
      },
    };
  } catch (error) {
    await lock.release();
    throw jobError(id, folder, error);
  }
}

function foreignJournal(id: string): CliError {
  return new CliError('job_damaged', exits.machine, `the journal of ${id} is that of another job`, {
    hint: `Move the journal away: ${keysAlone}`,
  });
}

function jobError(id: string, folder: string, error: unknown): unknown {
  if (error instanceof CliError) return error;
  if (!existsSync(folder)) return noJob(id);
  if (error instanceof BrokenJournalError) {
    return machineError(
      error.message,
      error,
      `Move ${join(folder, journalFile)} away and run it again: ${keysAlone}`,
    );
  }
  if (error instanceof NewerJournalError) {
    return machineError(
      error.message,
      error,
      'Go on with the version of urtuu that wrote it, or a newer one.',
    );
  }
  return machineError(`the job ${id} cannot be opened: ${(error as Error).message}`, error);
}

/** Reads where a job stands without touching it. Throws CliError (exit 12) when there is none. */
export async function viewJob(stateDirectory: string, id: string): Promise<JobView> {
  const folder = await folderOf(stateDirectory, id);
  try {
    const meta = await readPlanMeta(folder);
    const table = new JobState(meta);
    await readJournal(folder, (entry) => table.apply(entry));
    return { id, folder, meta, table };
  } catch (error) {
    throw jobError(id, folder, error);
  }
}

/** The batches of a job, as its journal knows them. */
export function batchesOf({ id, folder, table }: JobView): Promise<BatchFigures[]> {
  const journal = { replay: (onEntry: (entry: Entry) => void) => readJournal(folder, onEntry) };
  return batchesIn(journal, table).catch((error) => {
    throw jobError(id, folder, error);
  });
}

async function readJournal(folder: string, onEntry: (entry: Entry) => void): Promise<void> {
  const path = join(folder, journalFile);
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (file !== null) await readEntries(file.createReadStream(), path, onEntry);
}

async function folderOf(stateDirectory: string, id: string): Promise<string> {
  const { base } = readJobId(id);
  const folder = join(jobsFolder(stateDirectory), id);
  const there = isJobName(base) && (await stat(folder).catch(() => null))?.isDirectory();
  if (there) return folder;
  throw noJob(id);
}

const noJob = (id: string) =>
  new CliError('not_found', exits.missing, `there is no job ${id}`, { hint: 'See: urtuu jobs list' });

/** Whether an error says that a job is not there, or not any more. */
export const isGone = (error: unknown) => error instanceof CliError && error.code === 'not_found';
const isFileMissing = (error: unknown) => error instanceof CliError && error.details.errno === 'ENOENT';

/** The ids of all jobs, in order. */
export async function jobIds(stateDirectory: string): Promise<string[]> {
  const names = await readdir(jobsFolder(stateDirectory)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw machineError('the jobs could not be listed', error);
  });
  return names.filter((name) => !name.startsWith('.')).sort();
}

/** Forgets a job. What is open or in doubt goes only with `force`: without its plan nobody can settle it. */
export async function removeJob(
  stateDirectory: string,
  id: string,
  { force, goOn }: { force: boolean; goOn(job: JobView): string },
): Promise<void> {
  const folder = await folderOf(stateDirectory, id);
  const lock = await lockFolder(folder);
  if (!lock.held) throw new CliError('job_locked', exits.refused, `the job ${id} is being worked on`);
  try {
    if (!force) await refuseUnsettled(stateDirectory, id, goOn);
  } catch (error) {
    await lock.release();
    throw error;
  }
  await removeFolder(folder, lock);
}

/** Nobody sees a part of the job: it leaves the list at once, and its files after that. */
async function removeFolder(folder: string, lock: Extract<Lock, { held: true }>): Promise<void> {
  const aside = join(dirname(folder), `${removed}${randomUUID()}`);
  try {
    await renameFile(folder, aside);
  } catch (error) {
    await lock.release();
    throw machineError(`${folder} could not be removed`, error);
  }
  await lock.releaseRemoved();
  await rm(aside, { recursive: true, force: true });
}

async function refuseUnsettled(
  stateDirectory: string,
  id: string,
  goOn: (job: JobView) => string,
): Promise<void> {
  const job = await viewJob(stateDirectory, id);
  const { tally } = job.table;
  if (tally.pending + tally.in_doubt === 0) return;
  throw new CliError(
    'job_unfinished',
    exits.refused,
    `the job ${id} is not finished: ${grouped(tally.pending)} pending, ${grouped(tally.in_doubt)} in doubt`,
    {
      hint: `Remove it with --force, or go on with: ${goOn(job)}`,
      details: { job: id, ...tally },
    },
  );
}
