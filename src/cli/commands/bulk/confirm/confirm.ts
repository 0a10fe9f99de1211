import type { JobState } from '../../../bulk/job/job-state.js';
import { readJobId } from '../../../bulk/job/keys.js';
import type { Job } from '../../../bulk/job/open-job.js';
import type { SharedLimit } from '../../../bulk/job/shared-limit.js';
import { type PlanMeta, sandboxBaseUrl } from '../../../bulk/plan/plan.js';
import type { Context } from '../../../context.js';
import { CliError, usageError } from '../../../errors.js';
import { exits } from '../../../exit-codes.js';
import { counted, grouped } from '../../../text/wording.js';
import type { BulkOptions } from '../options.js';
import { alreadySent, type EarlierSends, sentBeforeLine, sentSinceHold } from '../prepare/earlier-sends.js';
import { type Due, type Findings, type Preflight, paidOf } from './preflight.js';
import { previewOf } from './preflight-lines.js';

type ConfirmedJob = Pick<Job, 'id' | 'plan' | 'state'>;

/**
 * Shows the preflight at the prices of `current`, a new plan of the same input, and asks for confirmation, unless
 * `--yes` is given. Returns whether to send only to those who did not get the message yet, which takes another plan.
 * Throws CliError: exit 2 if declined, 7 for the price, 11.
 */
export async function confirmSend(
  context: Pick<Context, 'io' | 'options' | 'network' | 'clock'>,
  job: ConfirmedJob,
  current: PlanMeta,
  findings: Findings,
  options: BulkOptions,
): Promise<'all' | 'new'> {
  const { io } = context;
  const { yes, quiet } = context.options;
  if (job.state.finished) return 'all';
  const paid = await paidOf(job, current);
  const isShown = !quiet && !io.printer.isMachine;
  const preview = await previewOf(context, job, findings, options, { paid, asks: isShown });
  const { preflight, due, lines } = preview;
  for (const line of lines) io.note(line);
  noteRun(io, job, current, findings.earlier, options);
  const { toConfirm: repeated, sinceHold } = findings.earlier;
  const asks = !yes;
  if (repeated > 0 && !(asks && io.canPrompt))
    throw sinceHold ? sentSinceHold(job.id, findings.earlier) : alreadySent(repeated, options);
  refuseCost(preflight, job.state, options, findings.shared);
  if (asks && !io.canPrompt)
    throw usageError('cannot ask for confirmation without a terminal', 'Add --yes to send without asking.');
  // The prompt says so too.
  if (due.missing > 0 && !asks && !options.allowPartial) throw cannotPay(job, preflight, due);
  return asks ? ask(io, job, preflight, due, findings, options) : 'all';
}

const leftIn = ({ state: { counts } }: ConfirmedJob) => counts.pending + counts.in_doubt;

/** What this run of the job is. */
function noteRun(
  io: Context['io'],
  job: ConfirmedJob,
  current: PlanMeta,
  earlier: EarlierSends,
  { again }: BulkOptions,
): void {
  const { counts } = job.state;
  const { meta } = job.plan;
  const isResumed = counts.pending < meta.recipients;
  if (again && readJobId(job.id).run > 1 && !isResumed)
    io.note('Again       everyone on the list will get the message again');
  if (meta.digest !== current.digest)
    io.note('Texts       unchanged, from the earlier version that began this job');
  if (isResumed) io.note(`Resuming    ${grouped(counts.accepted)} accepted, ${grouped(leftIn(job))} to go`);
  else warnOfRepeats(io, earlier);
}

async function ask(
  io: Context['io'],
  job: ConfirmedJob,
  { balance }: Preflight,
  { left: credits, missing }: Due,
  { proof, earlier }: Findings,
  { only, first }: BulkOptions,
): Promise<'all' | 'new'> {
  const left = leftIn(job);
  const price = credits === null ? '' : ` for ${counted(credits, 'credit')}`;
  const { toConfirm: repeated, unfinished, sinceHold = false } = earlier;
  const sentences = [
    proof?.question ?? `Send to ${counted(left, 'recipient')}${price}?`,
    job.plan.meta.baseUrl === sandboxBaseUrl && 'Nobody receives anything: this is the sandbox.',
    repeated > 0 && `${sentBeforeLine(repeated, false, sinceHold ? unfinished : 0, sinceHold)}.`,
    only?.includes('unknown') && 'Some may already have it, and would get it twice.',
    missing > 0 &&
      `The balance is ${grouped(balance ?? 0)}, ${grouped(missing)} short, so the job will stop there.`,
  ];
  const question = sentences.filter((each) => typeof each === 'string').join(' ');
  const prompts = await io.prompts();
  const fresh = left - repeated;
  // The rows that a report selects are sent on purpose; a held plan is frozen.
  const isChoice = only === undefined && proof === undefined && !sinceHold;
  if (repeated > 0 && fresh > 0 && isChoice) {
    const ofNew = first === undefined ? `Only the ${grouped(fresh)} new` : 'Only new recipients';
    const choice = await prompts.choose<'new' | 'all' | 'none'>(question, [
      { name: ofNew, value: 'new' },
      { name: `All ${grouped(left)}`, value: 'all' },
      { name: 'Cancel', value: 'none' },
    ]);
    if (choice !== 'none') return choice;
  } else if (await prompts.confirm(question)) return 'all';
  throw usageError('declined; nothing was sent');
}

/** About recipients that need no confirmation. */
export function warnOfRepeats(
  io: Context['io'],
  { recipients, unfinished, skipped, toConfirm }: EarlierSends,
): void {
  if (toConfirm > 0 || recipients === 0 || skipped) return;
  const line = sentBeforeLine(recipients, false, unfinished);
  io.warn(`${line}; this job sends to them, too. To leave them out, add --skip-sent.`);
}

/** Exit 7; 6 if earlier requests are in doubt, which only their own job can resolve. */
function cannotPay(job: ConfirmedJob, { balance: known }: Preflight, { left, missing }: Due): CliError {
  const { in_doubt: inDoubt } = job.state.counts;
  const required = left ?? 0;
  const balance = known ?? 0;
  const how = job.plan.meta.baseUrl === sandboxBaseUrl ? ` (\`urtuu sandbox credit ${missing}\`)` : '';
  // Its start takes the option from the command that held it.
  const partly = job.state.held ? '' : ', or add --allow-partial to send a part';
  const ways = `Add ${counted(missing, 'credit')}${how}${partly}.`;
  const before = inDoubt > 0 ? `; in doubt from before: ${grouped(inDoubt)}` : '';
  return new CliError(
    'insufficient_credits',
    inDoubt > 0 ? exits.doubt : exits.money,
    `the job needs ${counted(required, 'credit')}, the balance is ${grouped(balance)}`,
    {
      hint: `Nothing was sent this time${before}. ${ways}`,
      details: { required, balance, in_doubt: inDoubt },
    },
  );
}

export function refuseCost(
  { credits }: Preflight,
  { spendLimit, heldPrice }: Pick<JobState, 'spendLimit' | 'heldPrice'>,
  { maxCredits: given }: Pick<BulkOptions, 'maxCredits'>,
  shared: SharedLimit | null,
): void {
  const maxCredits = given ?? spendLimit;
  if (maxCredits === null || (credits !== null && credits <= maxCredits)) return;
  const cost =
    credits === null ? 'the price of the job is unknown' : `the job costs ${counted(credits, 'credit')}`;
  const isPrice = given === undefined && heldPrice !== null;
  const limit = isPrice
    ? `it cost ${grouped(maxCredits)} when it was held`
    : shared === null
      ? `--max-credits is ${grouped(maxCredits)}`
      : `${grouped(maxCredits)} of the ${counted(shared.limit, 'credit')} of ${shared.of} are left`;
  const [unfinished] = shared?.unfinished ?? [];
  const kept =
    unfinished === undefined
      ? ''
      : ` The rest is kept for unfinished jobs. To finish one: \`urtuu jobs resume ${unfinished}\`.`;
  throw new CliError('over_max_credits', exits.money, `${cost}, and ${limit}`, {
    hint: `Nothing was sent this time. ${shared === null && !isPrice ? 'Raise' : 'Add'} --max-credits, or send to fewer.${kept}`,
    details: { credits, max_credits: maxCredits },
  });
}
