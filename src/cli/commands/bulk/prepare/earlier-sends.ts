import { type CliError, refusedSend } from '../../../errors.js';
import { counted, grouped } from '../../../text/wording.js';
import { type BulkOptions, isOnPurpose } from '../options.js';

export const recentDays = 7;
export const lately = `in the last ${recentDays} days`;

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
  /** Whether these are the sends since the job was held. */
  sinceHold?: boolean;
}

export const wereSent = (count: number) => (count === 1 ? 'was sent' : 'were sent');

/** Exit 11: recipients already got the message, and there is no terminal for a prompt. */
export function alreadySent(count: number, { only }: BulkOptions): CliError {
  const way = isOnPurpose(only)
    ? 'Use the report of the job that sent to them, or add --again'
    : 'Add --skip-sent to leave them out, or --again';
  const who = `${counted(count, 'recipient')} of this list ${wereSent(count)}`;
  const what = `${who} the same message from this machine ${lately}`;
  return refusedSend('sent_before', what, `${way} to send to them again.`, { recipients: count });
}

/** Exit 11: others have what a held job would send, and there is no terminal for a prompt. */
export function sentSinceHold(id: string, { recipients, unfinished, open }: EarlierSends): CliError {
  const sent = recipients - unfinished;
  const whoOf = (count: number) => `${counted(count, 'recipient')} of the held job ${id}`;
  const [what, way] =
    sent > 0
      ? [
          `${whoOf(sent)} ${wereSent(sent)} the same message since`,
          'To leave them out, hold the list again with --skip-sent and another --job name.',
        ]
      : [
          `${whoOf(unfinished)} may get the same message from the unfinished job ${[...open.keys()].join(' or ')}`,
          `Finish or remove that one first. See: \`urtuu jobs show ${[...open.keys()][0]}\``,
        ];
  return refusedSend('sent_before', what, way, { job: id, recipients });
}

/** A line of the preflight about `EarlierSends`; undefined without such recipients. */
export function sentBeforeLine(
  count: number,
  skipped: boolean,
  unfinished = 0,
  sinceHold = false,
): string | undefined {
  const sent = skipped ? count : count - unfinished;
  const left = skipped ? ` left out: ${sent === 1 ? 'it' : 'they'}` : '';
  // The rest of a list leaves out earlier ones, too.
  const when = skipped ? '' : ` ${sinceHold ? 'since this job was held' : lately}`;
  const parts = sent > 0 ? [`${grouped(sent)}${left} ${wereSent(sent)} the same message${when}`] : [];
  if (unfinished > 0)
    parts.push(
      `${grouped(unfinished)} may get ${sent > 0 ? 'it' : 'the same message'} from an unfinished job`,
    );
  return parts.length > 0 ? parts.join(', ') : undefined;
}
