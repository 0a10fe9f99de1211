import type {
  AcceptedEntry,
  Entry,
  EntryOf,
  MovedEntry,
} from '../../../../../src/cli/bulk/job/journal/entries.js';
import type { PlanMeta } from '../../../../../src/cli/bulk/plan/plan.js';
import { Acceptances } from './acceptances.js';
import { BatchIds } from './batch-ids.js';
import type { Outcome } from './counts.js';
import { FinalFigures, type Finals, finalsOf, finalsWithout, noFinals } from './final-figures.js';
import type { JournalSource } from './journal-source.js';
import { outcomeOf } from './phases.js';
import { type DetailFilter, DetailsStore, type RequestDetails } from './request-details.js';
import { type Moved, RequestStates } from './request-states.js';

export type PlanFigures = Pick<PlanMeta, 'requests' | 'recipients' | 'rejected' | 'channel'>;

/**
 * The state of every request of a job: the only fold of the journal. It takes a few bytes a request, for a million
 * single sends; rare facts are kept separately, and details only for the requests that `keeps` selects.
 */
export class JobState extends RequestStates {
  credits = 0;
  balance: number | null = null;
  /** How the last run ended; null during a run, and after one that was killed. */
  ended: { at: string; exit: number } | null = null;
  /** The job that the journal was started for. */
  job: { id: string; digest: string } | null = null;
  /** The maximum that the job may spend, as last set; null for no limit. */
  limit: number | null = null;
  /** The last finished run's own limit of requests a second; null for none. */
  rate: number | null = null;
  /** Hashes of additional API keys of the job's project. */
  readonly accounts: string[] = [];
  readonly #channel: PlanFigures['channel'];
  readonly #acceptances: Acceptances;
  readonly finals: FinalFigures;
  readonly #batches: BatchIds;
  readonly #details: DetailsStore;
  /** Accepted requests without final figures, and those whose figures do not include how many are unknown. */
  #unfinal = 0;
  #unsaid = 0;
  /** Members of accepted requests that another job took, because their messages had failed. */
  readonly #taken = new Map<number, number>();
  readonly #movedTo = new Set<string>();

  /** Rejected rows, which are not in the plan, count as rejected. */
  constructor(plan: PlanFigures, keeps: DetailFilter | null = null) {
    super(plan);
    const { requests, channel } = plan;
    this.#channel = channel;
    this.#acceptances = new Acceptances(requests);
    this.finals = new FinalFigures(requests);
    this.#batches = new BatchIds(requests);
    this.#details = new DetailsStore(keeps);
  }

  /** The state recorded in a journal, with the details of the requests that `keeps` selects. */
  static async read(
    plan: PlanFigures,
    journal: JournalSource,
    keeps: DetailFilter | null,
  ): Promise<JobState> {
    const state = new JobState(plan, keeps);
    await journal.replay((entry) => state.apply(entry));
    return state;
  }

  /**
   * Whether every acceptance repeats an earlier one: the job ran before, elsewhere or before its record was lost, and
   * nothing new was sent.
   */
  get ranElsewhere(): boolean {
    return this.#acceptances.areAllReplays;
  }

  /** When the earliest repeated acceptance was made; null if unknown. */
  get ranAt(): string | null {
    return this.#acceptances.earliestReplay;
  }

  /** Failed messages of an accepted request, as far as known. */
  failed(request: number): number {
    return this.finals.of(request).failed;
  }

  /** Members of the accepted body, including those that another job has taken since. */
  bodySize(request: number): number {
    return this.recipients(request) + (this.#taken.get(request) ?? 0);
  }

  /** The status of a request's remaining recipients, as far as they share one. */
  statusOf(request: number): Exclude<Outcome, 'unknown'> {
    const phase = this.phase(request);
    if (phase !== 'accepted') return outcomeOf[phase];
    const { sent, unknown, failed, unsure } = this.finals.of(request);
    if (unsure > 0) return 'in_doubt';
    const recipients = this.recipients(request);
    if (failed === recipients) return 'failed';
    return sent + unknown === recipients ? 'sent' : 'queued';
  }

  /** Whether every accepted request has its final figures. */
  get final(): boolean {
    return this.#unfinal === 0;
  }

  /** Whether the final figures include how many messages are unknown. */
  get knowsUnknown(): boolean {
    return this.#unsaid === 0;
  }

  /** The jobs that took rows from this one. */
  get movedTo(): readonly string[] {
    return [...this.#movedTo];
  }

  /** The request answered with this batch; null if there is none. */
  requestOfBatch(id: string): number | null {
    return this.#batches.requestOf(id);
  }

  /** The details of a request that `keeps` has selected. */
  details(request: number): RequestDetails {
    return this.#details.of(request);
  }

  allDetails(): Iterable<[request: number, details: RequestDetails]> {
    return this.#details.all();
  }

  /** Applies an entry, in the order of the journal. */
  apply(entry: Entry): void {
    switch (entry.type) {
      case 'job':
        this.job = { id: entry.id, digest: entry.digest };
        break;
      case 'end':
        this.ended = { at: entry.at, exit: entry.exit };
        this.balance = entry.balance;
        this.rate = entry.rate;
        break;
      case 'limit':
        this.limit = entry.credits;
        break;
      case 'account':
        this.accounts.push(entry.hash);
        // It may be of another project.
        if (!entry.isChecked) this.balance = null;
        break;
      case 'send':
        this.ended = null;
        this.setBody(entry.request, entry.revision, entry.recipients);
        this.move(entry.request, 'doubt');
        this.#details.update(entry.request, { code: '' });
        break;
      case 'refused':
        if (entry.unanswered === 0) this.move(entry.request, 'pending');
        this.setRefusal(entry.request, entry.code);
        this.#details.update(entry.request, { code: entry.code });
        break;
      case 'accepted':
        this.#accept(entry);
        break;
      case 'absent':
        this.#leaveOut(entry);
        break;
      case 'unsure':
        this.setFinals(entry.request, { ...noFinals, unsure: entry.recipients }, 'some');
        break;
      case 'moved':
        this.#moveAway(entry);
        break;
      case 'alarm':
        if (this.phase(entry.request) === 'accepted') this.#disown(entry.request);
        this.move(entry.request, 'alarm');
        this.#details.update(entry.request, { id: '', kind: null, credits: null, final: null });
        break;
      case 'removed':
        this.#remove(entry);
        break;
      case 'revised':
        this.setBody(entry.request, entry.revision + 1);
        this.move(entry.request, 'pending');
        this.#details.update(entry.request, { code: '', id: '', credits: null });
        break;
      case 'rejected':
        this.move(entry.request, 'rejected');
        this.#details.update(entry.request, { code: entry.code });
        break;
      case 'failed':
        this.move(entry.request, 'failed');
        this.#details.update(entry.request, { code: entry.code, id: entry.id ?? '', credits: 0 });
        break;
      case 'progress':
      case 'final':
        // After an alarm, the batch and its figures are not this request's.
        if (this.phase(entry.request) === 'accepted') this.#learn(entry);
        break;
    }
  }

  #accept({ request, id, kind, credits, replayOf }: AcceptedEntry): void {
    this.credits += credits;
    this.#unfinal += 1;
    this.#unsaid += 1;
    if (kind === 'batch') this.#batches.add(id, request);
    this.#acceptances.add(request, replayOf);
    this.move(request, 'accepted');
    // A single SMS has been accepted by the operator when the service accepts it.
    if (kind === 'single' && this.#channel === 'sms')
      this.setFinals(request, { ...noFinals, sent: 1 }, 'some');
    this.#details.update(request, { id, kind, credits });
  }

  /** An accepted batch turned out to belong to something else. */
  #disown(request: number): void {
    this.#acceptances.remove(request);
    this.setFinals(request, noFinals, 'everything');
  }

  #remove({ request, revision, indexes }: EntryOf<'removed'>): void {
    this.move(request, 'pending');
    const count = this.takeOut(request, indexes, 'invalid_request');
    this.outcomes.pending -= count;
    this.outcomes.rejected += count;
    this.setBody(request, revision + 1);
    if (this.recipients(request) === 0) this.move(request, 'rejected');
  }

  /**
   * Moves rows that this job would no longer send; in journals of earlier releases, also rows that it would still send.
   */
  #moveAway({ request, revision, indexes, recipients, job }: MovedEntry): void {
    const why: Moved = { to: job ?? '' };
    const phase = this.phase(request);
    if (phase === 'doubt' || phase === 'alarm') return;
    if (job !== null) this.#movedTo.add(job);
    const wasRejected = this.relabel(request, indexes, why);
    this.outcomes.rejected -= wasRejected;
    this.outcomes.moved += wasRejected;
    if (phase === 'pending') this.setBody(request, revision, recipients);
    const before = this.recipients(request);
    const count = this.takeOut(request, indexes, why);
    this.outcomes[outcomeOf[phase]] -= count;
    this.outcomes.moved += count;
    if (phase === 'pending') this.setBody(request, revision + 1);
    if (phase === 'accepted') {
      this.#taken.set(request, (this.#taken.get(request) ?? 0) + count);
      this.setFinals(request, finalsWithout(count, before, this.finals.of(request)));
    } else if (this.recipients(request) === 0) this.move(request, 'rejected');
  }

  /** Removes members of an accepted request that are not in its batch. */
  #leaveOut({ request, indexes }: EntryOf<'absent'>): void {
    const count = this.takeOut(request, indexes, 'not_in_batch');
    this.outcomes.queued -= count;
    this.outcomes.rejected += count;
  }

  #learn(entry: EntryOf<'progress' | 'final'>): void {
    const { type, request, sent, failed, unknown } = entry;
    const isFinal = type === 'final';
    if (!isFinal && this.finals.knowledge(request) !== 'some') return;
    const recipients = this.bodySize(request);
    const finals = finalsOf(recipients, entry, isFinal);
    const known = !isFinal ? 'some' : unknown === null ? 'final' : 'everything';
    this.setFinals(request, finalsWithout(recipients - this.recipients(request), recipients, finals), known);
    if (!isFinal) return;
    this.#details.update(request, {
      final: { sent, failed, unknown },
      ...(entry.code === null ? {} : { code: entry.code }),
    });
  }

  setFinals(request: number, now: Finals, known = this.finals.knowledge(request)): void {
    const before = this.finals.knowledge(request);
    this.#unfinal -= Number(known !== 'some') - Number(before !== 'some');
    this.#unsaid -= Number(known === 'everything') - Number(before === 'everything');
    const { sent, unknown, failed, unsure } = this.finals.set(request, now, known);
    this.outcomes.sent += sent;
    this.outcomes.unknown += unknown;
    this.outcomes.failed += failed;
    this.outcomes.in_doubt += unsure;
    this.outcomes.queued -= sent + unknown + failed + unsure;
  }
}
