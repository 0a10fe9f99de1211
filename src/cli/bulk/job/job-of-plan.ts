import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError, machineError, refusedError, refusedSend, usageError } from '../../errors.js';
import { renameFile } from '../../platform/rename.js';
import { syncFolder } from '../../platform/sync-folder.js';
import { openPlan } from '../plan/files/plan-reader.js';
import type { FrozenPlan } from '../plan/plan.js';
import { differencesOf } from '../plan/plan-difference.js';
import { isNoJob, isOtherCase, jobsFolder } from './jobs-folder.js';
import { isJobName, jobIdOf, readJobId, repeatId } from './keys.js';
import { type Job, type JobView, jobHeld, openJob, viewJob } from './open-job.js';

/** Maximum attempts to find and open a job; each one fails because another process discarded the job. */
const mostTries = 20;

export interface JobChoice {
  /** The value of `--job`. Default: derived from the plan. */
  name?: string | undefined;
  /** The id of its first run, if it is neither the name nor derived from the plan. */
  base?: string | undefined;
  /** Whether a job is of the same list and texts, although its bytes are others. */
  isSame?(id: string): Promise<boolean>;
  /** Repeats a finished job. */
  again?: boolean | undefined;
  /** The command to resume a job. */
  resumeCommand(job: JobView): string;
}

/**
 * Opens the job of a plan: a new job, which takes over the plan's folder, or the existing job of the same plan, with
 * the same keys. Throws CliError (exit 11) if the name belongs to another plan, or another process runs the job.
 */
export async function openJobOf(stateDirectory: string, plan: FrozenPlan, choice: JobChoice): Promise<Job> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await openJob(stateDirectory, await adoptPlan(stateDirectory, plan, choice));
    } catch (error) {
      // Another process has discarded the job; a third one may have created it again.
      if (tries === mostTries || !(isNoJob(error) || isFileMissing(error))) throw error;
    }
  }
}

/** Opens the job that a plan would go on with; null for a new job, with its id. Throws CliError as `openJobOf`. */
export async function openJobToResume(
  stateDirectory: string,
  plan: FrozenPlan,
  choice: JobChoice,
): Promise<{ job: Job | null; id: string }> {
  const { resumed, id } = await runsOf(stateDirectory, plan, choice);
  return { job: resumed === null ? null : await openJob(stateDirectory, resumed), id };
}

const isFileMissing = (error: unknown) => error instanceof CliError && error.details.errno === 'ENOENT';

/** Throws CliError (exit 2) for a name that cannot be a job's. */
export function refuseJobName(name: string | undefined): void {
  if (name === undefined || isJobName(name)) return;
  throw usageError(
    `'${name}' is not a job name`,
    'Use letters, digits, dots, dashes and underscores; an ending such as .2 is for repeats.',
  );
}

/** The run of its job that a plan goes on with, or null, and the id of a new one. */
async function runsOf(
  stateDirectory: string,
  plan: FrozenPlan,
  choice: JobChoice,
): Promise<{ resumed: string | null; id: string }> {
  const base = choice.base ?? choice.name ?? jobIdOf(plan.meta);
  const runs = (await readdir(jobsFolder(stateDirectory)))
    .map(readJobId)
    .filter((each) => each.base === base);
  const last = Math.max(0, ...runs.map(({ run }) => run));
  const next = repeatId(base, last + 1);
  if (last === 0) return { resumed: null, id: next };
  const id = repeatId(base, last);
  const job = await viewJob(stateDirectory, id);
  await refuseOtherPlan(job, plan, choice);
  refuseHeld(job, plan, choice);
  return choice.again && job.state.finished ? { resumed: null, id: next } : { resumed: id, id };
}

/** Returns the job's id. */
async function adoptPlan(stateDirectory: string, plan: FrozenPlan, choice: JobChoice): Promise<string> {
  refuseJobName(choice.name);
  const jobs = jobsFolder(stateDirectory);
  for (;;) {
    const { resumed, id } = await runsOf(stateDirectory, plan, choice);
    if (resumed !== null) return resumed;
    try {
      await renameFile(plan.folder, join(jobs, id));
      await syncFolder(jobs);
      return id;
    } catch (error) {
      // If another process created it first, it is read again.
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST')
        throw machineError(`the job ${id} could not be saved`, error);
      const names = await readdir(jobs);
      const other = names.includes(id) ? undefined : names.find((name) => isOtherCase(name, id));
      if (other !== undefined) throw otherCase(id, other);
    }
  }
}

/** On macOS and Windows. */
const otherCase = (id: string, other: string) =>
  refusedError(
    'job_differs',
    `this disk cannot tell ${id} from the job ${other}`,
    `Write it as ${other}, or choose another --job name.`,
    { job: other },
  );

/** A held job, and one that cannot be held, because it has begun. */
function refuseHeld(job: JobView, plan: FrozenPlan, { resumeCommand }: JobChoice): void {
  const { id, state } = job;
  if (state.held) throw jobHeld(job, resumeCommand(job));
  if (plan.meta.held === undefined || state.finished) return;
  const what = `the job ${id} has begun, so it cannot be held`;
  const way = `Use another --job name, or resume the job: ${resumeCommand(job)}`;
  throw refusedSend('job_unfinished', what, way, { job: id, ...state.counts });
}

async function refuseOtherPlan(
  job: JobView,
  plan: FrozenPlan,
  { resumeCommand, isSame }: Pick<JobChoice, 'resumeCommand' | 'isSame'>,
): Promise<void> {
  const { id, meta } = job;
  const { digest, baseUrl, channel } = plan.meta;
  if (meta.digest === digest && meta.baseUrl === baseUrl && meta.channel === channel) return;
  if (await isSame?.(id)) return;
  const differences = await openPlan(job.folder)
    .then((kept) => differencesOf(kept, plan))
    .catch(() => ['its plan cannot be read']);
  const rename =
    'Use another --job name, and --skip-sent to leave out everyone who got this message from this machine';
  const what = `the job ${id} has another plan: ${differences.join('; ')}`;
  const hint = job.state.finished ? `${rename}.` : `${rename}; or resume the old job: ${resumeCommand(job)}`;
  throw refusedError('job_differs', what, hint, { job: id, differences });
}
