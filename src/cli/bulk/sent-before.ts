import type { Context } from '../context.js';
import { CliError } from '../errors.js';
import { exits } from '../exit-codes.js';
import { counted, grouped } from '../output/wording.js';
import { resumeCommand } from './next-command.js';
import type { BulkOptions } from './options.js';
import type { Met, SentIndex } from './planning/sent-index.js';
import { type NewJob, recentDays, recentSends } from './recent-sends.js';

const lately = `in the last ${recentDays} days`;

/** Who has the message already; null where nobody does, or where it does not matter. */
export async function sentBefore(
  context: Context,
  job: NewJob,
  { again, only }: BulkOptions,
): Promise<SentIndex | null> {
  if (again) return null;
  // A report knows more than the requests: who was not sent to is taken on purpose.
  if (only !== undefined && !only.includes('sent') && !only.includes('queued')) return null;
  return recentSends(context, job);
}

/** All that got the message, or will get it from another job. */
export function countOf({ sent, open }: Met): number {
  return [...open.values()].reduce((sum, count) => sum + count, sent);
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
export function alreadySent(count: number): CliError {
  return new CliError(
    'sent_before',
    exits.refused,
    `${counted(count, 'recipient')} of this list got the same message from this machine ${lately}`,
    {
      hint: 'Nothing was sent now. Add --skip-sent to leave them out, or --again to send to them again.',
      details: { recipients: count },
    },
  );
}

/** Exit 11 for a list of which everyone has the message. */
export function everyoneHasIt(count: number): CliError {
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
