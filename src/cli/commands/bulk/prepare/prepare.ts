import { rm } from 'node:fs/promises';
import type { Channel } from '../../../../contract/index.js';
import { located, quoted } from '../../../bulk/input/input-error.js';
import { earlierJobsOf } from '../../../bulk/job/earlier-job.js';
import { type JobChoice, openJobOf } from '../../../bulk/job/job-of-plan.js';
import { folderForPlan } from '../../../bulk/job/jobs-folder.js';
import { jobIdOf } from '../../../bulk/job/keys.js';
import type { Job } from '../../../bulk/job/open-job.js';
import type { SharedLimit } from '../../../bulk/job/shared-limit.js';
import { isSystemError } from '../../../bulk/job/system-error.js';
import type { PlanOutcome } from '../../../bulk/plan/build-plan.js';
import type { FrozenPlan } from '../../../bulk/plan/plan.js';
import type { Context } from '../../../context.js';
import { machineError } from '../../../errors.js';
import { once } from '../../../once.js';
import { counted } from '../../../text/wording.js';
import { baseUrlOf } from '../base-url.js';
import { refuseCancelled } from '../cancellation.js';
import { confirmSend } from '../confirm/confirm.js';
import { printDryRun } from '../confirm/dry-run.js';
import { printHeld, showHeld } from '../confirm/held.js';
import type { Findings, Preflight } from '../confirm/preflight.js';
import { readAccount, readPrices } from '../confirm/read-account.js';
import { type JobInput, resumeOf } from '../next-command.js';
import type { BulkOptions } from '../options.js';
import type { Proof } from '../proof/proof.js';
import { prove } from '../proof/prove.js';
import { alreadySent } from './earlier-sends.js';
import { endAllSent, isAllSent, isDone } from './finished.js';
import { gatherInput } from './gather-input.js';
import { inputOf } from './job-input.js';
import type { Likened } from './like.js';
import { type PlanChoices, type PlanSource, planList } from './plan-list.js';
import { readHeader } from './read-header.js';
import { badRows, warnOfRejects } from './rejects.js';
import { Comparison, refuseOpen, warnOfFailed } from './sent-before.js';
import { recordLimit, shareLimit, whileStarting } from './start.js';
import { checkTaken } from './take.js';

export interface PreparedJob {
  job: Job;
  input: JobInput;
  options: BulkOptions;
}

/**
 * Gathers the input, plans it, compares it with what was sent before, opens the job and asks for confirmation. Returns
 * null if nothing is to be sent: after `--dry-run`, a proof or `--hold`, or if `--skip-sent` leaves out everyone.
 */
export async function prepareJob(
  context: Context,
  channel: Channel,
  given: string | undefined,
  likened: Likened,
  proof: Proof | null,
): Promise<PreparedJob | null> {
  const { wanted, choices } = await gather(context, channel, given, likened);
  return prepareWanted(context, { ...wanted, proof }, choices);
}

export async function prepareWanted(
  context: Context,
  wanted: WantedJob,
  choices: PlanChoices,
): Promise<PreparedJob | null> {
  try {
    for (;;) {
      const prepared = await inPlanFolder(context, (folder) => prepareIn(context, folder, wanted, choices));
      if (prepared !== 'anew') return prepared;
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw machineError(`cannot save the job (${error.code}); nothing was sent this time`, error);
  }
}

export interface WantedJob extends PlanSource {
  /** The value of `--job`. */
  name: string | undefined;
  /** Whether its limit is that of the jobs that it is like. */
  sharesLimit: boolean;
  /** What is sent in place of the job. */
  proof?: Proof | null;
}

async function gather(
  context: Context,
  channel: Channel,
  given: string | undefined,
  likened: Likened,
): Promise<{ wanted: WantedJob; choices: PlanChoices }> {
  const { options, source } = likened;
  // Before asking for a text, which would be written in vain without a key, an engine or a list.
  const priced = once(async () => {
    const client = await context.network.client();
    return (await readAccount(() => client.pricing.get(), options)).value;
  });
  const look = async (file: string) => {
    await priced();
    return readHeader(context, channel, file, options);
  };
  const { chosen, ...input } = await gatherInput(context, channel, given, likened, look);
  const pricing = await priced();
  const baseUrl = await baseUrlOf(context.config);
  const like = source === null ? {} : { like: source.jobs, restOf: source.restOf };
  const sharesLimit = source?.sharesLimit ?? false;
  return {
    wanted: { ...input, ...like, channel, baseUrl, pricing, name: options.job, sharesLimit },
    choices: { ...options, ...chosen },
  };
}

/** Passes the path of a new folder, which is removed unless a job takes it. */
async function inPlanFolder<Value>(
  { config, network, clock }: Pick<Context, 'config' | 'network' | 'clock'>,
  work: (folder: string) => Promise<Value>,
): Promise<Value> {
  const unique = `${process.pid}-${Math.floor(network.random() * 2 ** 32).toString(36)}`;
  const folder = await folderForPlan(config.stateDirectory, unique, clock.now());
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns 'anew' after it has changed `choices`, for another plan. */
async function prepareIn(
  context: Context,
  folder: string,
  wanted: WantedJob,
  choices: PlanChoices,
): Promise<PreparedJob | 'anew' | null> {
  const { io } = context;
  const comparison = new Comparison(context, wanted, choices);
  const sentBefore = await comparison.start();
  const outcome = await planList(context, wanted, choices, { folder, sentBefore });
  if (outcome === 'anew') return outcome;
  const { plan } = outcome;
  showInput(io, outcome, choices);
  if (outcome.leftOut.only > 0 && wanted.rows === undefined)
    io.note(`${counted(outcome.leftOut.only, 'row')} with another status left out (--only)`);
  if (choices.skipSent) warnOfFailed(context, comparison);
  if (plan === null && isAllSent(outcome)) return endAllSent(io, outcome, comparison, choices, wanted);
  if (plan === null) throw badRows(outcome);
  const { reportedRows: reported } = outcome;
  const earlierJobs = earlierJobsOf(context.config.stateDirectory, plan, outcome.isNew);
  const base = choices.job ?? (await earlierJobs.unnamed()) ?? jobIdOf(plan.meta);
  const child = { id: null, base, plan, reported };
  const prices = await readPrices(context, wanted.pricing, choices);
  const choice = choiceOf(context, choices, { base, isSame: earlierJobs.isSame });
  if (wanted.proof) {
    await prove(context, wanted.proof, { outcome, prices, wanted, choices, child, comparison, choice });
    return null;
  }
  if (choices.dryRun) {
    await checkTaken(context, child, null);
    const earlier = await comparison.finish(outcome, plan, base);
    await printDryRun(context, { id: base, plan }, { outcome, earlier, prices, shared: null }, choices);
    return null;
  }
  const { job, shared, earlier } = await whileStarting(context, async (lock) => {
    await checkTaken(context, child, lock);
    const earlier = await comparison.finish(outcome, plan, base);
    await refuseOpen(context, earlier);
    // Who starts it later looks at what was sent since.
    if (choices.hold && earlier.toConfirm > 0) throw alreadySent(earlier.toConfirm, choices);
    return { earlier, ...(await openLimited(context, plan, wanted, choices, choice)) };
  });
  const findings = { outcome, earlier, prices, shared };
  if (job.state.held) return hold(context, job, findings, choices);
  const confirmed = await confirmOpened(context, job, plan, findings, choices);
  if (confirmed === 'all')
    return { job, input: inputOf(job, wanted, outcome, comparison, choices), options: choices };
  // Without those who already got it, the plan and the price are different.
  choices.skipSent = true;
  return 'anew';
}

const choiceOf = (
  context: Context,
  { job: name, again }: BulkOptions,
  identity: Pick<JobChoice, 'base' | 'isSame'>,
): JobChoice => ({ ...identity, name, again, resumeCommand: (other) => resumeOf(context, other) });

interface Limited {
  job: Job;
  /** The limit that it shares with other jobs; null for its own, or none. */
  shared: SharedLimit | null;
}

/** Opens the job of a plan, with its limit. One that goes on keeps its own. */
async function openLimited(
  context: Context,
  plan: FrozenPlan,
  { like, sharesLimit }: WantedJob,
  choices: PlanChoices,
  choice: JobChoice,
): Promise<Limited> {
  const job = await openJobOf(context.config.stateDirectory, plan, choice);
  const { untouched, limit, finished } = job.state;
  try {
    if (like !== undefined && sharesLimit && (untouched || (limit === null && !finished)))
      return { job, shared: await shareLimit(context, job, like) };
    if (untouched && choices.maxCredits !== undefined) await recordLimit(job, choices.maxCredits);
    return { job, shared: null };
  } catch (error) {
    await leave(context, job);
    throw error;
  }
}

/** A job that has sent nothing is discarded. */
async function leave({ io }: Pick<Context, 'io'>, job: Job): Promise<void> {
  if (job.state.untouched) await job.discard().catch(({ message }) => io.warn(message));
  else await job.close();
}

/** Ends a command with --hold. */
async function hold(context: Context, job: Job, findings: Findings, options: BulkOptions): Promise<null> {
  let preflight: Preflight;
  try {
    preflight = await showHeld(context, job, findings, options);
  } catch (error) {
    await leave(context, job);
    throw error;
  }
  await job.close();
  await printHeld(context, job, preflight, options);
  return null;
}

async function confirmOpened(
  context: Context,
  job: Job,
  plan: FrozenPlan,
  findings: Findings,
  options: BulkOptions,
): Promise<'all' | 'new'> {
  if (!isDone(job, options)) {
    await refuseCancelled(context, job).catch(async (error) => {
      await job.close();
      throw error;
    });
  }
  try {
    const wanted = await confirmSend(context, job, plan.meta, findings, options);
    if (wanted === 'new') await job.discard();
    return wanted;
  } catch (error) {
    await leave(context, job);
    throw error;
  }
}

function showInput(io: Context['io'], outcome: PlanOutcome, { dryRun = false, only }: BulkOptions): void {
  const { plan, rejects, delimiter, sheet, hiddenRows, leavesOutHidden, meta, toColumn } = outcome;
  warnOfRejects(io, rejects, { toColumn, fails: !dryRun || plan === null });
  for (const { column, value, line, rows } of outcome.placeholders) {
    const what = `${column}: ${quoted(value.trim())} looks like a missing value (${counted(rows.size, 'row')})`;
    io.warn(located(meta.source, what, { line }));
  }
  if (hiddenRows > 0) {
    const rows = `sheet ${sheet}: ${counted(hiddenRows, 'hidden row')}`;
    if (leavesOutHidden) io.note(`${rows} left out`);
    else io.warn(`${rows} included; to leave them out, add --visible-only`);
  }
  // The preflight of a plan shows the delimiter.
  if (plan === null && delimiter !== null && delimiter !== ',' && meta.columns.length > 1)
    io.note(`The delimiter is ${JSON.stringify(delimiter)}`);
  if (plan !== null && only?.includes('undelivered'))
    io.note('Undelivered rows are sent again as a new job, and charged again.');
  if (plan !== null && only?.includes('unknown'))
    io.note('Unknown rows are sent again as a new job; some recipients may get the message twice.');
}
