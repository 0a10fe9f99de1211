import { rm } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Channel } from '../../../../contract/index.js';
import { located, quoted } from '../../../bulk/input/input-error.js';
import { earlierJobsOf } from '../../../bulk/job/earlier-job.js';
import { openJobOf } from '../../../bulk/job/job-of-plan.js';
import { folderForPlan } from '../../../bulk/job/jobs-folder.js';
import { jobIdOf } from '../../../bulk/job/keys.js';
import type { Job, JobView } from '../../../bulk/job/open-job.js';
import type { SharedLimit } from '../../../bulk/job/shared-limit.js';
import { isSystemError } from '../../../bulk/job/system-error.js';
import type { PlanOutcome } from '../../../bulk/plan/build-plan.js';
import type { PlanMeta } from '../../../bulk/plan/plan.js';
import type { Context } from '../../../context.js';
import { machineError } from '../../../errors.js';
import { once } from '../../../once.js';
import { counted } from '../../../text/wording.js';
import { baseUrlOf } from '../base-url.js';
import { refuseCancelledAndClose } from '../cancellation.js';
import { confirmSend } from '../confirm/confirm.js';
import { printDryRun, printHeld, showHeld } from '../confirm/not-sent.js';
import { readAccount, readPrices } from '../confirm/read-account.js';
import { type JobInput, resumeOf } from '../next-command.js';
import type { BulkOptions } from '../options.js';
import type { Proof } from '../proof/proof.js';
import { type PlannedJob, prove } from '../proof/prove.js';
import { alreadySent } from './earlier-sends.js';
import { endAllSent, isAllSent, isDone } from './finished.js';
import { gatherInput } from './gather-input.js';
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
  showInput(io, outcome, choices);
  if (outcome.leftOut.only > 0 && wanted.rows === undefined)
    io.note(`${counted(outcome.leftOut.only, 'row')} with another status left out (--only)`);
  if (choices.skipSent) warnOfFailed(context, comparison);
  const { plan } = outcome;
  if (plan === null && isAllSent(outcome)) return endAllSent(io, outcome, comparison, choices, wanted);
  if (plan === null) throw badRows(outcome);
  const { isSame, unnamed } = earlierJobsOf(context.config.stateDirectory, plan, outcome.isNew);
  const { job: name, again } = choices;
  const base = name ?? (await unnamed()) ?? jobIdOf(plan.meta);
  const child = { id: null, base, plan, reported: outcome.reportedRows };
  const prices = await readPrices(context, wanted.pricing, choices);
  const resume = (other: JobView) => resumeOf(context, other);
  const choice = { base, isSame, name, again, resumeCommand: resume };
  const planned = { outcome, prices, wanted, choices, child, comparison, choice };
  if (wanted.proof) await prove(context, wanted.proof, planned);
  else if (choices.dryRun) await showPlan(context, planned);
  else return startJob(context, planned);
  return null;
}

async function showPlan(
  context: Context,
  { outcome, prices, choices, child, comparison }: PlannedJob,
): Promise<void> {
  await checkTaken(context, child, null);
  const { plan, base } = child;
  const earlier = await comparison.finish(outcome, plan, base);
  await printDryRun(context, { id: base, plan }, { outcome, earlier, prices, shared: null }, choices);
}

/** Opens the job of a plan, and confirms or holds it. */
async function startJob(context: Context, planned: PlannedJob): Promise<PreparedJob | 'anew' | null> {
  const { outcome, prices, wanted, choices, child, comparison, choice } = planned;
  const { plan, base } = child;
  const { job, shared, earlier } = await whileStarting(context, async (lock) => {
    await checkTaken(context, child, lock);
    const earlier = await comparison.finish(outcome, plan, base);
    await refuseOpen(context, earlier);
    // Who starts it later looks at what was sent since.
    if (choices.hold && earlier.toConfirm > 0) throw alreadySent(earlier.toConfirm, choices);
    const job = await openJobOf(context.config.stateDirectory, plan, choice);
    const shared = await leavingOnError(context, job, () => setLimit(context, job, wanted, choices));
    return { job, shared, earlier };
  });
  const findings = { outcome, earlier, prices, shared };
  if (job.state.held) {
    const preflight = await leavingOnError(context, job, () => showHeld(context, job, findings, choices));
    await job.close();
    await printHeld(context, job, preflight, choices);
    return null;
  }
  if (!isDone(job, choices)) await refuseCancelledAndClose(context, job);
  const confirm = () => confirmSend(context, job, plan.meta, findings, choices);
  if ((await leavingOnError(context, job, confirm)) === 'all')
    return { job, input: inputOf(job, planned), options: choices };
  await job.discard();
  // Without those who already got it, the plan and the price are different.
  choices.skipSent = true;
  return 'anew';
}

/** Sets the limit of a job; one that goes on keeps its own. Returns the limit that it shares with other jobs, or null. */
async function setLimit(
  context: Context,
  job: Job,
  { like, sharesLimit }: PlannedJob['wanted'],
  { maxCredits }: PlanChoices,
): Promise<SharedLimit | null> {
  const { untouched, limit, finished } = job.state;
  if (like !== undefined && sharesLimit && (untouched || (limit === null && !finished)))
    return shareLimit(context, job, like);
  if (untouched && maxCredits !== undefined) await recordLimit(job, maxCredits);
  return null;
}

/** After an error, discards a job that has sent nothing, and closes any other one. */
async function leavingOnError<Value>(
  { io }: Pick<Context, 'io'>,
  job: Job,
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (job.state.untouched) await job.discard().catch(({ message }) => io.warn(message));
    else await job.close();
    throw error;
  }
}

function inputOf(
  job: Job,
  { outcome: { rejects, meta }, wanted, choices: { only, acceptDuplicates }, comparison }: PlannedJob,
): JobInput {
  // A job that was planned before may keep other texts that were the same for all its rows.
  const isSame =
    isDeepStrictEqual(job.meta.templates, JSON.parse(JSON.stringify(wanted.templates))) &&
    isDeepStrictEqual(limitsOf(job.meta), limitsOf(meta));
  return {
    ...{ only, acceptDuplicates, rejected: rejects.count },
    rejects: isSame ? rejects.file : null,
    rest: isSame ? meta.rest : null,
    leftOut: rejects.count + comparison.uncertain,
  };
}

/** The options that say whom a command like this one reaches. */
const limitsOf = ({ options = {} }: PlanMeta) =>
  (['where', 'exclude', 'excludeColumn'] as const).map((name) => (options as BulkOptions)[name] ?? null);

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
