import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Channel, isSameBaseUrl } from '../../../contract/index.js';
import { exits } from '../../exit-codes.js';
import { visitRecipients } from '../plan/files/body-recipients.js';
import { bodiesOf, openPlan, readPlanRecord } from '../plan/files/plan-reader.js';
import { anyMessage, type MessageHash, marks, messageHash, type PairSet } from '../plan/pair-set.js';
import type { FrozenPlan, PlanMeta, Source } from '../plan/plan.js';
import { JobState } from './job-state.js';
import { folderOf, jobIds } from './jobs-folder.js';
import { lastEntry, readJournal } from './journal/journal-reader.js';
import { moveTaken, Takers } from './takers.js';

export interface OtherJob {
  id: string;
  folder: string;
  meta: PlanMeta;
  /** Of its journal when it was listed; 0 if it has none. */
  written: number;
  /** Changes whenever the journal does, also where it is another job's of the same name. */
  version: string;
}

/** The outcomes of batches that a report of the job has read, one after the other; null for damaged ones. */
export interface StoredOutcomes {
  read(
    onBatch: (
      request: number,
      batch: string,
      outcomes: readonly { index: number; status: string }[] | null,
    ) => void,
  ): Promise<void>;
  close(): Promise<void>;
}

export interface OtherJobsOptions {
  stateDirectory: string;
  channel: Channel;
  baseUrl: string;
  /** By its id alone. */
  isOther(id: string): boolean;
  /** Whatever the message: then the pairs have `anyMessage`, too. */
  byRecipient?: boolean;
  /** Earlier sends do not count, in milliseconds since 1970. */
  since: number;
  /** In its place, for a job whose journal was written last at that time. */
  sinceOf?(written: number): number;
  /** Jobs of which all sends do, with those that are like them. */
  always?: readonly Source[];
  openOutcomes(folder: string, job: { id: string } & PlanMeta): Promise<StoredOutcomes | null>;
  onUnreadable(id: string, error: Error): void;
}

/** The pairs of which a job counts: all, those that are `fixed`, or none. */
export type Counting = 'all' | 'fixed' | 'none';

/** What the other jobs of this machine, on one channel and service, have sent since a moment, or would send. */
export class OtherJobs {
  readonly #options: OtherJobsOptions;
  /** By id, the version that was read. */
  readonly #read = new Map<string, string>();
  /** Those that had something to send. */
  readonly #open = new Set<string>();
  /** By id, the plan of a job that has none of the pairs, whatever it does. */
  readonly #apart = new Map<string, string>();
  /** As they were when the first job was read. */
  #takers: Takers | null = null;
  /** The marks of one job after the other. */
  #marks = new Uint8Array(0);

  constructor(options: OtherJobsOptions) {
    this.#options = options;
  }

  /** Those that may count, and were not read yet, or have written their journal since. */
  async unread(): Promise<OtherJob[]> {
    const { stateDirectory, channel, baseUrl, isOther } = this.#options;
    const found: OtherJob[] = [];
    for (const id of await jobIds(stateDirectory)) {
      if (!isOther(id)) continue;
      const folder = folderOf(stateDirectory, id);
      const journal = await stat(join(folder, 'journal')).catch(() => null);
      const written = journal?.mtimeMs ?? 0;
      const version = journal === null ? '' : `${journal.ino} ${journal.size} ${written}`;
      if (this.#read.get(id) === version) continue;
      const record = await readPlanRecord(folder).catch((error) => this.#skip(id, version, error));
      if (record === null) continue;
      const { meta } = record;
      const isOfService = meta.channel === channel && isSameBaseUrl(meta.baseUrl, baseUrl);
      // Nothing was recorded since, so the journal, which may be long, is not read.
      const isApart = this.#apart.get(id) === planOf(meta);
      const mayCount = isOfService && !isApart;
      const since = this.#sinceOf(id, meta, written);
      if (mayCount && (isSince(meta, since) || written >= since || (await mayBeOpen(folder))))
        found.push({ id, folder, meta, written, version });
      else this.#read.set(id, version);
    }
    return found;
  }

  /** Marks what those jobs did; each one is read once, and again after it has changed. */
  async mark(
    pairs: PairSet,
    countOf: (job: OtherJob) => Counting = () => 'all',
    onPlan: (plan: FrozenPlan) => Promise<void> = async () => {},
  ): Promise<void> {
    let jobs = await this.unread();
    const here = new Set(await jobIds(this.#options.stateDirectory));
    if ([...this.#open].some((id) => !here.has(id) || jobs.some((job) => job.id === id))) {
      // A pair has one open job: without this one, it may be another's.
      pairs.forgetOpen();
      for (const id of this.#open) this.#read.delete(id);
      this.#open.clear();
      jobs = await this.unread();
    }
    for (const job of jobs) {
      const counting = countOf(job);
      this.#read.set(job.id, job.version);
      if (counting === 'none') continue;
      try {
        const ofJob = await this.#marksOf(job, pairs, onPlan);
        if (ofJob === null) continue;
        if (ofJob.includes(marks.open)) this.#open.add(job.id);
        if (!Object.values(marks).some((mark) => ofJob.includes(mark)))
          this.#apart.set(job.id, planOf(job.meta));
        pairs.merge(job.id, ofJob, counting === 'fixed' ? pairs.fixed : null);
      } catch (error) {
        this.#skip(job.id, job.version, error as Error);
      }
    }
  }

  /** Null if the job has sent nothing since, and would send nothing. */
  async #marksOf(
    { id, folder, meta, written }: OtherJob,
    pairs: PairSet,
    onPlan: (plan: FrozenPlan) => Promise<void>,
  ): Promise<Uint8Array | null> {
    const since = this.#sinceOf(id, meta, written);
    const state = new JobState(meta);
    await readJournal(folder, {}, (entry) => state.apply(entry));
    // Whoever starts it looks for what was sent meanwhile.
    if (state.held) return null;
    if (!isSince(meta, since) && !state.isActiveSince(since, written) && state.finished) return null;
    const plan = await openPlan(folder);
    await onPlan(plan);
    if (this.#marks.length !== pairs.length) this.#marks = new Uint8Array(pairs.length);
    this.#takers ??= await Takers.in(this.#options.stateDirectory);
    await moveTaken({ id, folder, meta, state }, this.#takers);
    const ofJob = this.#marks.fill(0);
    const failures = await this.#failuresIn({ id, folder, meta }, state);
    const message = this.#options.byRecipient ? anyMessage : undefined;
    const sent = { state, written, since, failures, message };
    for await (const { number, body } of bodiesOf(plan)) markRequest(number, body, sent, pairs, ofJob);
    return ofJob;
  }

  /** Whose messages failed, by position in the planned request, in the batches of which a report has read it. */
  async #failuresIn(
    { id, folder, meta }: Pick<OtherJob, 'id' | 'folder' | 'meta'>,
    state: JobState,
  ): Promise<Failures> {
    const failures = new Map<number, ReadonlySet<number>>();
    const mayHaveFailed = (request: number) => state.finalOf(request)?.failed !== 0;
    if (![...state.batches()].some(mayHaveFailed)) return failures;
    const stored = await this.#options.openOutcomes(folder, { id, ...meta });
    await stored?.read((request, batch, outcomes) => {
      if (outcomes === null) failures.delete(request);
      else if (state.idOf(request) === batch && mayHaveFailed(request)) {
        const failed = outcomes.filter(({ status }) => status === 'failed');
        failures.set(request, failed.length === 0 ? nobody : new Set(failed.map(({ index }) => index)));
      }
    });
    await stored?.close();
    return failures;
  }

  #sinceOf(id: string, { digest, like = [] }: PlanMeta, written: number): number {
    const { since, sinceOf, always = [] } = this.#options;
    const isOne = (each: Source) => always.some((one) => one.job === each.job && one.digest === each.digest);
    if (isOne({ job: id, digest }) || like.some(isOne)) return 0;
    return sinceOf?.(written) ?? since;
  }

  #skip(id: string, version: string, error: Error): null {
    this.#read.set(id, version);
    // A refused command discards the job it created.
    if (existsSync(folderOf(this.#options.stateDirectory, id))) this.#options.onUnreadable(id, error);
    return null;
  }
}

const planOf = ({ digest, created_at: at }: PlanMeta) => `${digest} ${at}`;
const isSince = ({ created_at: at }: PlanMeta, moment: number) => Date.parse(at) >= moment;

/** Whatever its age, an unfinished job would still send. */
async function mayBeOpen(folder: string): Promise<boolean> {
  const last = await lastEntry(folder);
  return last?.type !== 'end' || !finishedExits.includes(last.exit);
}

/** A run that ends with one of these has left nothing to send. */
export const finishedExits: readonly number[] = [exits.ok, exits.partly];

type Failures = ReadonlyMap<number, ReadonlySet<number>>;
const nobody: ReadonlySet<number> = new Set();

interface Sent {
  state: JobState;
  /** When the journal was written. */
  written: number;
  since: number;
  failures: Failures;
  /** Of all requests; undefined if each has its own. */
  message: MessageHash | undefined;
}

function markRequest(request: number, body: string, sent: Sent, pairs: PairSet, ofJob: Uint8Array): void {
  const { state } = sent;
  const mark = markOf(sent, request);
  const known = mark === marks.sent ? sent.failures.get(request) : undefined;
  const failed = known ?? nobody;
  const isUncertain = mark === marks.sent && known === undefined && state.unsent(request) > 0;
  const removed = state.removed(request);
  let { message } = sent;
  let index = 0;
  visitRecipients(body, (text, from, end, at) => {
    message ??= messageHash(body, at);
    const pair = pairs.find(text, message, from, end);
    if (pair !== -1) {
      const isFree = removed.has(index) || failed.has(index);
      const own = isFree ? marks.free : isUncertain ? marks.uncertain : mark;
      ofJob[pair] = Math.max(ofJob[pair] ?? 0, own);
    }
    index += 1;
  });
}

function markOf({ state, written, since }: Sent, request: number) {
  switch (state.phase(request)) {
    case 'pending':
    case 'doubt':
      return marks.open;
    case 'accepted':
      if (state.unsent(request) === state.recipients(request)) return marks.free;
      break;
    // The job can no longer resolve this doubt.
    case 'alarm':
      break;
    default:
      return marks.free;
  }
  return state.sentAt(request, written) >= since ? marks.sent : marks.free;
}
