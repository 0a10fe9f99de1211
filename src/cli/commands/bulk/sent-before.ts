import type { PlanOutcome } from '../../bulk/plan/build-plan.js';
import type { Met, SentIndex } from '../../bulk/plan/sent-index.js';
import type { Context } from '../../context.js';
import { CliError, Ended, usageError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { counted, grouped } from '../../wording.js';
import { resumeCommand } from './next-command.js';
import type { BulkOptions } from './options.js';
import { type NewJob, recentDays, recentSends, sentSinceReports } from './recent-sends.js';

const lately = `in the last ${recentDays} days`;

/** Who has the message already; null where nobody does, or where it does not matter. */
export async function sentBefore(
  context: Context,
  job: NewJob,
  { again, only, skipSent }: BulkOptions,
): Promise<SentIndex | null> {
  if (!again && !takesUnsent(only)) return recentSends(context, job);
  if (skipSent)
    throw idleSkip(again ? '--again sends to everyone' : `--only ${only} takes who was not sent to`);
  return null;
}

/** The same for rows of reports, of whom other jobs may have taken some since. */
export async function sentSince(
  context: Context,
  job: NewJob,
  { plan, origins }: PlanOutcome,
  { again }: BulkOptions,
): Promise<Met | null> {
  return again || plan === null ? null : sentSinceReports(context, job, plan, origins.jobs);
}

/** A report knows more than the requests: who was not sent to is taken on purpose. */
const takesUnsent = (only: BulkOptions['only']) =>
  only !== undefined && !only.includes('sent') && !only.includes('queued');

function idleSkip(why: string): CliError {
  return usageError(`${why}, --skip-sent leaves people out`, 'Nothing was sent. Give one of the two.');
}

/** All that got the message, or will get it from another job; only those who got it can be left out. */
export function countOf({ sent, open }: Met, skipped: boolean): number {
  return skipped ? sent : [...open.values()].reduce((sum, count) => sum + count, sent);
}

/** What --skip-sent cannot know of those it leaves out. */
export function tellFailed(context: Context, recent: SentIndex | null): void {
  if (!hasFailed(recent)) return;
  const failed = counted(recent?.failed ?? 0, 'message');
  context.io.warn(
    `${failed} of earlier batches failed, and whose they were is not known here: --skip-sent leaves those out, too. To send to them, use --only failed with the report of their job.`,
  );
}

const hasFailed = (recent: SentIndex | null) => recent !== null && recent.met.sent > 0 && recent.failed > 0;

/** With --skip-sent everyone may be left out. */
export const isAllSent = ({ alreadySent, meta }: PlanOutcome) => alreadySent > 0 && meta.rejected === 0;

export function endAllSent(
  context: Context,
  { alreadySent }: PlanOutcome,
  recent: SentIndex | null,
  { ifFinished }: BulkOptions,
): null {
  if (ifFinished !== 'ok') throw everyoneHasIt(alreadySent);
  if (hasFailed(recent)) {
    context.io.conclude('Everyone in this list was in an earlier job; nothing was sent now.');
    throw new Ended(exits.partly);
  }
  context.io.note('Everyone in this list has the message already; nothing was sent now.');
  return null;
}

/** Exit 11 for recipients whom an unfinished job would send the same message, too. */
export function refuseOpen(context: Context, { open }: Met): void {
  for (const [id, count] of open) {
    throw new CliError(
      'rows_open',
      exits.refused,
      `the unfinished job ${id} would send the same message to ${counted(count, 'recipient')} of this list`,
      {
        hint: `Nothing was sent now. Add --again to send to everyone all the same, or finish that job: ${resumeCommand(context, id)}`,
        details: { job: id, recipients: count },
      },
    );
  }
}

/** Exit 11 for recipients who have the message, where nobody is there to be asked. */
export function alreadySent(count: number, { only }: BulkOptions): CliError {
  const way = takesUnsent(only)
    ? 'Use the report of the job that sent to them, or add --again'
    : 'Add --skip-sent to leave them out, or --again';
  return new CliError(
    'sent_before',
    exits.refused,
    `${counted(count, 'recipient')} of this list got the same message from this machine ${lately}`,
    {
      hint: `Nothing was sent now. ${way} to send to them again.`,
      details: { recipients: count },
    },
  );
}

/** Exit 11 for a list of which everyone has the message. */
function everyoneHasIt(count: number): CliError {
  return new CliError(
    'job_done',
    exits.refused,
    `everyone in this list got the same message from this machine ${lately}`,
    {
      hint: 'Nothing was sent now. Add --again to send to them again.',
      details: { recipients: count },
    },
  );
}

/** The line of the preflight; undefined where nobody has it. */
export function sentBeforeLine(count: number, skipped: boolean): string | undefined {
  if (count === 0) return undefined;
  return skipped
    ? `${grouped(count)} left out: they got the same message ${lately}`
    : `${grouped(count)} got the same message ${lately}`;
}
