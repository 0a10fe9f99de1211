import type { Job } from '../../bulk/job/open-job.js';
import type { Context } from '../../context.js';
import { CliError, usageError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { counted, grouped } from '../../wording.js';
import type { BulkOptions } from './options.js';
import { creditsLeft, creditsMissing, type Preflight } from './preflight.js';
import { alreadySent, sentBeforeLine } from './sent-before.js';

/** What is about to be sent, as figures and as the lines that a person reads. */
export interface Proposal {
  preflight: Preflight;
  lines: string[];
  /** How much of the plan's credits is not to be paid any more. */
  spent: number;
  /** Recipients who have the message already, where that has to be agreed to. */
  repeated: number;
}

/** Shows what is about to be sent; a person, or `--yes`, has to agree before money is spent. */
export async function agree(
  context: Context,
  job: Job,
  { preflight, lines, spent, repeated }: Proposal,
  options: BulkOptions,
): Promise<void> {
  const { tally } = job.table;
  const retried = options.retryFailed ? [...job.table.in('failed')].length : 0;
  if (job.table.finished && retried === 0) return;
  for (const line of lines) context.io.note(line);
  const resumed = tally.pending < job.plan.meta.recipients;
  const toGo = tally.pending + tally.in_doubt + retried;
  if (resumed) context.io.note(`Going on    ${grouped(tally.accepted)} accepted, ${grouped(toGo)} to go`);
  const asks = !context.options.yes;
  if (repeated > 0 && !(asks && context.io.canPrompt)) throw alreadySent(repeated, options);
  refuseCost(preflight, options.maxCredits ?? job.table.limit);
  if (asks && !context.io.canPrompt) {
    throw usageError('there is no terminal to ask at', 'Add --yes to send without the question.');
  }
  const missing = creditsMissing(preflight, spent);
  // At a terminal the question says it.
  if (missing > 0 && !asks && !options.allowPartial) throw cannotPay(preflight, spent, missing);
  if (!asks) return;
  const left = creditsLeft(preflight, spent);
  const credits = left === null ? '' : ` for ${counted(left, 'credit')}`;
  const partly =
    missing > 0
      ? ` The balance is ${grouped(preflight.balance ?? 0)}: ${grouped(missing)} are missing, so it will stop there.`
      : '';
  const again = repeated > 0 ? ` ${sentBeforeLine(repeated, false)}.` : '';
  const question = `Send to ${counted(toGo, 'recipient')}${credits}?${again}${partly}`;
  if (!(await (await context.io.prompts()).confirm(question))) throw usageError('declined; nothing was sent');
}

function cannotPay(preflight: Preflight, spent: number, missing: number): CliError {
  const needed = creditsLeft(preflight, spent) ?? 0;
  const balance = preflight.balance ?? 0;
  return new CliError(
    'insufficient_credits',
    exits.money,
    `the job needs ${counted(needed, 'credit')}, the balance is ${grouped(balance)}`,
    {
      hint: `Nothing was sent now. Add ${counted(missing, 'credit')}, or add --allow-partial to send as far as the balance goes.`,
      details: { required: needed, balance },
    },
  );
}

function refuseCost({ credits }: Preflight, maxCredits: number | null): void {
  if (maxCredits === null || (credits !== null && credits <= maxCredits)) return;
  const cost =
    credits === null ? 'what the job costs is not known' : `the job costs ${counted(credits, 'credit')}`;
  throw new CliError(
    'over_max_credits',
    exits.money,
    `${cost}, and --max-credits is ${grouped(maxCredits)}`,
    {
      hint: 'Nothing was sent.',
      details: { credits, max_credits: maxCredits },
    },
  );
}
