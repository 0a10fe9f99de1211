import { jobIds } from '../../../bulk/job/jobs-folder.js';
import { jobIdOf } from '../../../bulk/job/keys.js';
import { viewJob } from '../../../bulk/job/open-job.js';
import type { PlanOutcome } from '../../../bulk/plan/build-plan.js';
import type { FrozenPlan } from '../../../bulk/plan/plan.js';
import type { SentCounts, SentIndex } from '../../../bulk/plan/sent-index.js';
import type { Context } from '../../../context.js';
import { CliError, Ended, usageError } from '../../../errors.js';
import { exits } from '../../../exit-codes.js';
import { counted, grouped } from '../../../text/wording.js';
import { type ResumeContext, reportCommand, resumeOf } from '../next-command.js';
import type { BulkOptions } from '../options.js';
import {
  type NewJob,
  type RecentContext,
  recentDays,
  recentSends,
  sentMeanwhile,
  sentSinceReports,
} from './recent-sends.js';

const lately = `in the last ${recentDays} days`;

/** The recent sends to compare a new plan with; null if there are none, or repeats are wanted. */
export async function sendsToCompare(
  context: RecentContext,
  job: NewJob,
  { again, only, skipSent }: BulkOptions,
): Promise<SentIndex | null> {
  if (skipSent && (again || isOnPurpose(only))) throw exclusive(again ? '--again' : `--only ${only}`);
  const isCompared = !again && (!isOnPurpose(only) || only?.includes('rejected'));
  return isCompared ? recentSends(context, job) : null;
}

/** The rows of a report that were not sent. */
const selectsUnsent = (only: BulkOptions['only']) =>
  only !== undefined && !only.includes('sent') && !only.includes('queued');

/**
 * A report knows more than the jobs, so its unsent rows are sent on purpose. But a rejected row was fixed, perhaps to
 * the recipient of another row.
 */
export const isOnPurpose = (only: BulkOptions['only']) =>
  selectsUnsent(only) && only?.some((each) => each !== 'rejected') === true;

const wereSent = (count: number) => (count === 1 ? 'was sent' : 'were sent');

const exclusive = (option: string) =>
  usageError(`${option} and --skip-sent cannot be combined`, 'Nothing was sent. Use one of the two.');

/** Recipients of a plan who already got its message, or will get it from another job. */
export interface EarlierSends {
  /** With `skipped`, those who were left out. */
  recipients: number;
  /** Those who only may get it, from an unfinished job; without `skipped`, among `recipients`. */
  unfinished: number;
  skipped: boolean;
  /** How many to confirm: 0 with `--skip-sent`, and for a named job, unless its rows are from a report. */
  toConfirm: number;
  /** Unfinished jobs that would send the same, with the number of recipients. */
  open: ReadonlyMap<string, number>;
}

/** What a plan was compared with while it was made. */
interface Compared {
  recent: SentIndex | null;
  /** The jobs of this machine at that time. */
  jobs: ReadonlySet<string>;
  outcome: PlanOutcome;
}

export async function findEarlierSends(
  context: RecentContext,
  wanted: NewJob,
  plan: FrozenPlan,
  compared: Compared,
  options: BulkOptions,
): Promise<EarlierSends> {
  const { job: name, skipSent: skipped = false } = options;
  const known = await jobIds(context.config.stateDirectory);
  // Without a name, the same plan is the same job, whose journal has its own sends.
  const isKnown = name === undefined && known.includes(jobIdOf(plan.meta));
  const counts = isKnown ? null : await countsOf(context, wanted, plan, compared, options);
  if (counts === null) return { recipients: 0, unfinished: 0, skipped, toConfirm: 0, open: new Map() };
  const unfinished = [...counts.open.values()].reduce((sum, count) => sum + count, 0);
  // Only those who were sent the message can be skipped.
  const recipients = skipped ? counts.sent : counts.sent + unfinished;
  const isNamed = name !== undefined;
  const checksOpen = !isNamed || (skipped && !known.includes(name));
  return {
    recipients,
    unfinished,
    skipped,
    toConfirm: skipped || (isNamed && !selectsUnsent(options.only)) ? 0 : recipients,
    open: checksOpen ? counts.open : new Map(),
  };
}

async function countsOf(
  context: RecentContext,
  wanted: NewJob,
  plan: FrozenPlan,
  { recent, jobs, outcome }: Compared,
  { again, only, skipSent }: BulkOptions,
): Promise<Pick<SentCounts, 'sent' | 'open'> | null> {
  if (again) return null;
  const since = isOnPurpose(only)
    ? await sentSinceReports(context, wanted, plan, { reported: outcome.reportedRows.jobs, counted: recent })
    : await sentMeanwhile(context, wanted, plan, jobs);
  if (skipSent && since !== null && since.sent > 0) throw overtaken(since.sent);
  if (since === null || recent === null) return since ?? recent?.counts ?? null;
  const open = new Map(recent.counts.open);
  for (const [job, count] of since.open) open.set(job, (open.get(job) ?? 0) + count);
  return { sent: recent.counts.sent + since.sent, open };
}

/** Exit 11: the plan still contains them. */
const overtaken = (count: number) =>
  new CliError(
    'sent_before',
    exits.refused,
    `another job has just sent the same message to ${counted(count, 'recipient')} of this list`,
    {
      hint: 'Nothing was sent this time. Run the same command again to leave them out.',
      details: { recipients: count },
    },
  );

/** Warns of recipients whom `--skip-sent` skips although their message may have failed. */
export function warnOfFailed({ io, config }: Pick<Context, 'io' | 'config'>, recent: SentIndex | null): void {
  for (const [job, count] of recent?.counts.uncertain ?? []) {
    io.warn(
      `${counted(count, 'recipient')} left out may not have the message: some messages of the job ${job} failed, and this machine does not know whose. Its report names them, and then --skip-sent sends to them:`,
      reportCommand({ config }, job),
    );
  }
}

/** Whether `--skip-sent` has left out everyone. */
export const isAllSent = ({ alreadySent, meta }: PlanOutcome) => alreadySent > 0 && meta.rejected === 0;

/** Ends a command that has nobody to send to. Throws CliError (exit 11) without `--if-finished ok`. */
export function endAllSent(
  io: Context['io'],
  { alreadySent }: PlanOutcome,
  recent: SentIndex | null,
  { ifFinished }: BulkOptions,
): null {
  if (ifFinished !== 'ok') throw everyoneSent(alreadySent);
  if (recent !== null && recent.counts.uncertain.size > 0) {
    io.conclude('Everyone in this list was in an earlier job; nothing was sent this time.');
    throw new Ended(exits.partly);
  }
  io.note('Everyone in this list was sent the message before; nothing was sent this time.');
  return null;
}

/** Throws CliError (exit 11) for an unfinished job that would send the same. */
export async function refuseOpen(context: ResumeContext, { open }: EarlierSends): Promise<void> {
  for (const [id, count] of open) {
    const job = await viewJob(context.config.stateDirectory, id);
    throw new CliError(
      'rows_open',
      exits.refused,
      `the unfinished job ${id} would send the same message to ${counted(count, 'recipient')} of this list`,
      {
        hint: `Nothing was sent this time. Add --again to send to everyone anyway, or finish that job: ${resumeOf(context, job)}`,
        details: { job: id, recipients: count },
      },
    );
  }
}

/** Exit 11: recipients already got the message, and there is no terminal for a prompt. */
export function alreadySent(count: number, { only }: BulkOptions): CliError {
  const way = isOnPurpose(only)
    ? 'Use the report of the job that sent to them, or add --again'
    : 'Add --skip-sent to leave them out, or --again';
  return new CliError(
    'sent_before',
    exits.refused,
    `${counted(count, 'recipient')} of this list ${wereSent(count)} the same message from this machine ${lately}`,
    {
      hint: `Nothing was sent this time. ${way} to send to them again.`,
      details: { recipients: count },
    },
  );
}

function everyoneSent(count: number): CliError {
  return new CliError(
    'job_done',
    exits.refused,
    `everyone in this list was sent the same message from this machine ${lately}`,
    {
      hint: 'Nothing was sent this time. Add --again to send to them again.',
      details: { recipients: count },
    },
  );
}

/** A line of the preflight about `EarlierSends`; undefined without such recipients. */
export function sentBeforeLine(count: number, skipped: boolean, unfinished = 0): string | undefined {
  const sent = skipped ? count : count - unfinished;
  const left = skipped ? ` left out: ${sent === 1 ? 'it' : 'they'}` : '';
  const parts = sent > 0 ? [`${grouped(sent)}${left} ${wereSent(sent)} the same message ${lately}`] : [];
  if (unfinished > 0)
    parts.push(
      `${grouped(unfinished)} may get ${sent > 0 ? 'it' : 'the same message'} from an unfinished job`,
    );
  return parts.length > 0 ? parts.join(', ') : undefined;
}
