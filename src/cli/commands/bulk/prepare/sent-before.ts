import { folderOf, jobIds } from '../../../bulk/job/jobs-folder.js';
import { readJobId } from '../../../bulk/job/keys.js';
import { viewJob } from '../../../bulk/job/open-job.js';
import {
  type Counting,
  type OtherJob,
  OtherJobs,
  type OtherJobsOptions,
} from '../../../bulk/job/other-jobs.js';
import { metaOf } from '../../../bulk/job/takers.js';
import type { PlanOutcome, SentBefore } from '../../../bulk/plan/build-plan.js';
import { addEarlierReading, pairsOfReadings } from '../../../bulk/plan/earlier-reading.js';
import type { PlanRecord } from '../../../bulk/plan/files/plan-format.js';
import { readPlanRecord } from '../../../bulk/plan/files/plan-reader.js';
import { type PairCounts, PairSet } from '../../../bulk/plan/pair-set.js';
import type { FrozenPlan } from '../../../bulk/plan/plan.js';
import { ReceiptStore } from '../../../bulk/results/receipt-store.js';
import type { Context } from '../../../context.js';
import { type CliError, machineError, refusedSend, usageError } from '../../../errors.js';
import { counted } from '../../../text/wording.js';
import { type ResumeContext, reportCommand, resumeOf } from '../next-command.js';
import { type BulkOptions, isOnPurpose, selectsUnsent } from '../options.js';
import { absolutePath } from '../same-file.js';
import { type EarlierSends, recentDays } from './earlier-sends.js';
import type { PlanSource } from './plan-list.js';

export type SentContext = Pick<Context, 'io' | 'config' | 'clock' | 'network'>;

/** The other jobs of this machine that may have sent, or will send, what a job sends. */
export function otherJobs(
  { config, io, clock, network }: SentContext,
  options: Pick<OtherJobsOptions, 'channel' | 'baseUrl' | 'isOther'> & Partial<OtherJobsOptions>,
): OtherJobs {
  // By the service's clock, or this machine's if that is behind: with a clock in the future, every send would be old.
  const now = Math.min(clock.now(), network.lastExchange?.serviceTime ?? Number.POSITIVE_INFINITY);
  return new OtherJobs({
    since: now - recentDays * 86_400_000,
    onUnreadable: (id, { message }) => io.warn(`cannot read what the job ${id} sent: ${message}`),
    ...options,
    stateDirectory: config.stateDirectory,
    openOutcomes: (folder, job) => ReceiptStore.open(folder, job, { isShared: true }),
  });
}

/** Exit 13: it may have sent to anybody. */
export function refuseUnreadable(id: string, error: Error): never {
  const ways = 'Restore that job, or remove it and lose the record of what it sent:';
  const hint = `Nothing was sent this time. ${ways} \`urtuu jobs remove ${id} --force\``;
  throw machineError(`cannot read the job ${id}: ${error.message}`, error, hint);
}

const exclusive = (option: string) =>
  usageError(`${option} and --skip-sent cannot be combined`, 'Use one of the two.');

/** Compares a new plan with the other jobs of this machine: while it is planned, and before it becomes a job. */
export class Comparison {
  /** Those whom `--skip-sent` has left out. */
  skipped: PairCounts = { sent: 0, uncertain: new Map(), open: new Map() };
  readonly #options: BulkOptions;
  readonly #stateDirectory: string;
  readonly #jobs: OtherJobs;
  /** Whatever they sent, and whenever, of the jobs with these ids. */
  readonly #ever: (ids: readonly string[]) => OtherJobs;
  #pairs: PairSet | null = null;
  #counting: ((job: OtherJob) => Counting) | undefined;

  /** Throws CliError (exit 2) for options that exclude each other. */
  constructor(
    context: SentContext,
    { channel, baseUrl, rows, file, like = [], restOf }: PlanSource,
    options: BulkOptions,
  ) {
    const { again, only, skipSent, job } = options;
    const isReport = rows === undefined && isOnPurpose(only);
    if (skipSent && (again || isReport)) throw exclusive(again ? '--again' : `--only ${only}`);
    this.#options = options;
    this.#stateDirectory = context.config.stateDirectory;
    // Earlier runs with the name of this job are the same job.
    const isOther = (id: string) => readJobId(id).base !== job;
    const isRest = restOf === (file === '-' ? file : absolutePath(context.config, file));
    const certain = skipSent ? { onUnreadable: refuseUnreadable, always: isRest ? like : [] } : {};
    this.#jobs = otherJobs(context, { channel, baseUrl, isOther, ...certain });
    this.#ever = (ids) =>
      otherJobs(context, { channel, baseUrl, isOther: (id) => ids.includes(id), since: 0 });
  }

  /** Those among them whose message may have failed. */
  get uncertain(): number {
    return [...this.skipped.uncertain.values()].reduce((sum, count) => sum + count, 0);
  }

  /** For the planning; null if there is nothing to compare. */
  async start(): Promise<SentBefore | null> {
    const { again, skipSent: skip = false } = this.#options;
    const jobs = again ? [] : await this.#jobs.unread();
    if (jobs.length === 0) return null;
    const pairs = new PairSet();
    this.#pairs = pairs;
    return {
      pairs,
      skip,
      mark: async (list, reported) => {
        this.#counting = await this.#countingWith(reported.jobs);
        await this.#jobs.mark(pairs, this.#counting, (kept) => addEarlierReading(pairs, kept, list));
        if (skip) this.skipped = pairs.skipSent();
      },
    };
  }

  /** Reads only what has changed since. Throws CliError (exit 11) if `--skip-sent` would leave out more now. */
  async finish({ isNew }: PlanOutcome, plan: FrozenPlan, base: string): Promise<EarlierSends> {
    const { job: name, again, skipSent: skipped = false, only } = this.#options;
    const known = await jobIds(this.#stateDirectory);
    // Without a name, the same plan is the same job, whose journal has its own sends.
    const isKnown = name === undefined && known.includes(base);
    const nothing = { recipients: 0, unfinished: 0, skipped, toConfirm: 0, open: new Map() };
    if (again || isKnown) return nothing;
    if (this.#pairs === null && (await this.#jobs.unread()).length === 0) {
      await this.#refuseSameList(plan, isNew);
      return nothing;
    }
    this.#pairs ??= await pairsOf(plan, isNew);
    await this.#jobs.mark(this.#pairs, this.#counting);
    const { sent, open } = this.#pairs.counts();
    if (skipped && sent > 0) throw overtaken(sent);
    if (sent === 0) await this.#refuseSameList(plan, isNew);
    const unfinished = [...open.values()].reduce((sum, count) => sum + count, 0);
    // Only those who were sent the message can be skipped.
    const recipients = skipped ? this.skipped.sent : sent + unfinished;
    const isNamed = name !== undefined;
    const checksOpen = !isNamed || (skipped && !known.includes(name));
    return {
      recipients,
      unfinished,
      skipped,
      toConfirm: skipped || (isNamed && !selectsUnsent(only)) ? 0 : recipients,
      open: checksOpen ? open : new Map(),
    };
  }

  /**
   * The same list and message are the same job, however old. Another version may have read a row of the list otherwise,
   * and given the job another id. Throws CliError (exit 11).
   */
  async #refuseSameList(plan: FrozenPlan, isNew: boolean): Promise<void> {
    if (this.#options.job !== undefined) return;
    const own = await readPlanRecord(plan.folder);
    const ids: string[] = [];
    let wave: string | undefined;
    for (const id of await jobIds(this.#stateDirectory)) {
      const record = await readPlanRecord(folderOf(this.#stateDirectory, id)).catch(() => null);
      if (record === null || !isOfList(record, own)) continue;
      ids.push(id);
      if (record.meta.rest !== undefined) wave ??= id;
    }
    if (ids.length === 0) return;
    const pairs = await pairsOf(plan, isNew);
    await this.#ever(ids).mark(pairs);
    const { sent } = pairs.counts();
    if (sent > 0) throw sameList(ids, sent, this.#options.skipSent ? wave : undefined);
  }

  /**
   * Rows of a report that are sent on purpose are compared with the jobs started since the job of the report, or with
   * all if that one is not here, or is not named; those that were rejected, with all.
   */
  async #countingWith(reported: readonly string[]): Promise<((job: OtherJob) => Counting) | undefined> {
    const { only } = this.#options;
    if (!isOnPurpose(only)) return undefined;
    const others = only?.includes('rejected') ? 'fixed' : 'none';
    const plans = await Promise.all(reported.map((id) => metaOf(this.#stateDirectory, id)));
    // When the first of them was made; before all if one is not here.
    const begun = plans.map((meta) => meta?.created_at ?? '').sort()[0] ?? '';
    // Nobody knows when a held job was started.
    const isEarlier = ({ meta }: OtherJob) => meta.created_at < begun && meta.held === undefined;
    return (job: OtherJob) => (reported.includes(job.id) || isEarlier(job) ? others : 'all');
  }
}

export const pairsOf = (plan: FrozenPlan, isNew: boolean) =>
  isNew ? pairsOfReadings(plan) : PairSet.of(plan);

const isOfList = (other: PlanRecord, own: PlanRecord): boolean =>
  other.files['input.csv'].sha256 === own.files['input.csv'].sha256 &&
  other.table.recipient === own.table.recipient;

/** `wave`: one that took the first of the list. */
function sameList(ids: readonly string[], count: number, wave: string | undefined): CliError {
  const jobs = ids.join(' or ');
  const what = `the job ${jobs} of this list has sent the same message to ${counted(count, 'recipient')}`;
  const details = { job: ids[0] ?? null, recipients: count };
  const again = 'To send to them again, add --again.';
  const way = wave === undefined ? again : `To leave them out, add --like ${wave}.`;
  return refusedSend('job_done', what, way, details);
}

/** The plan still contains them. */
function overtaken(count: number): CliError {
  const what = `another job has just sent the same message to ${counted(count, 'recipient')} of this list`;
  const way = 'Run the same command again to leave them out.';
  return refusedSend('sent_before', what, way, { recipients: count });
}

/** Warns of recipients whom `--skip-sent` skips although their message may have failed. */
export function warnOfFailed({ io, config }: Pick<Context, 'io' | 'config'>, { skipped }: Comparison): void {
  for (const [job, count] of skipped.uncertain) {
    io.warn(
      `${counted(count, 'recipient')} left out may not have the message: some messages of the job ${job} failed, and this machine cannot tell which. Once you write its report, --skip-sent sends to them:`,
      reportCommand({ config }, job),
    );
  }
}

/** Throws CliError (exit 11) for an unfinished job that would send the same. */
export async function refuseOpen(context: ResumeContext, { open }: EarlierSends): Promise<void> {
  for (const [id, count] of open) {
    const job = await viewJob(context.config.stateDirectory, id);
    const who = `${counted(count, 'recipient')} of this list`;
    throw refusedSend(
      'rows_open',
      `the unfinished job ${id} would send the same message to ${who}`,
      `Add --again to send to everyone anyway, or finish that job: ${resumeOf(context, job)}`,
      { job: id, recipients: count },
    );
  }
}
