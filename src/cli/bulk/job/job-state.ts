import type { PlanMeta } from '../plan/plan.js';
import { Acceptances } from './acceptances.js';
import { BatchIds } from './batch-ids.js';
import type { AcceptedEntry, Entry, EntryOf } from './entries.js';
import { FinalFigures, type Finals, finalsOf, noFinals } from './final-figures.js';
import type { JournalSource } from './journal.js';
import { type DetailFilter, DetailsStore, type RequestDetails } from './request-details.js';
import { type Removal, RequestStates } from './request-states.js';

export type PlanFigures = Pick<PlanMeta, 'requests' | 'recipients' | 'rejected' | 'channel'>;

/**
 * The state of every request of a job: the one fold of the journal. A few bytes a request, so that a million single
 * sends fit; rare facts are kept apart, and details only for the requests that `keeps` chooses.
 */
export class JobState extends RequestStates {
  /** Recipients whose message is certainly with the operator. */
  sent = 0;
  credits = 0;
  balance: number | null = null;
  /** How the last run ended; null while one sends, and after one that was killed. */
  ended: { at: string; exit: number } | null = null;
  /** The job that the journal was begun for. */
  job: { id: string; digest: string } | null = null;
  /** The most the job may spend, as last set; null for no limit. */
  limit: number | null = null;
  /** Hashes of the further API keys of the job's project. */
  readonly accounts: string[] = [];
  readonly #channel: PlanFigures['channel'];
  readonly #acceptances: Acceptances;
  readonly #finals: FinalFigures;
  readonly #batches: BatchIds;
  readonly #details: DetailsStore;
  /** Accepted requests without their final figures; a single SMS is final when it is accepted. */
  #unfinal = 0;

  /** Bad rows that the plan left out count as rejected. */
  constructor(plan: PlanFigures, keeps: DetailFilter | null = null) {
    super(plan);
    const { requests, channel } = plan;
    this.#channel = channel;
    this.#acceptances = new Acceptances(requests);
    this.#finals = new FinalFigures(requests);
    this.#batches = new BatchIds(requests);
    this.#details = new DetailsStore(keeps);
  }

  /** The state that a journal has recorded, with the details of the requests that `keeps` chooses. */
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
   * Whether every acceptance repeats an earlier one: the job ran before, elsewhere or before its record was lost,
   * and nothing new was sent.
   */
  get ranElsewhere(): boolean {
    return this.#acceptances.areAllReplays;
  }

  /** When the earliest repeated acceptance was made; null where unknown. */
  get ranAt(): string | null {
    return this.#acceptances.earliestReplay;
  }

  /** Failed messages of an accepted request, as far as they are known. */
  failed(request: number): number {
    return this.#finals.failed(request);
  }

  /** Recipients of an accepted request who may not have been sent to. */
  unsure(request: number): number {
    return this.#finals.unsure(request);
  }

  /** Whether every accepted request has its final figures. */
  get final(): boolean {
    return this.#unfinal === 0;
  }

  /** The request that was answered with this batch; null when none was. */
  requestOfBatch(id: string): number | null {
    return this.#batches.requestOf(id);
  }

  /** Of a request that `keeps` has chosen. */
  details(request: number): RequestDetails {
    return this.#details.of(request);
  }

  allDetails(): Iterable<[request: number, details: RequestDetails]> {
    return this.#details.all();
  }

  /** Applies an entry, in the journal's order. */
  apply(entry: Entry): void {
    switch (entry.type) {
      case 'job':
        this.job = { id: entry.id, digest: entry.digest };
        break;
      case 'end':
        this.ended = { at: entry.at, exit: entry.exit };
        this.balance = entry.balance;
        break;
      case 'limit':
        this.limit = entry.credits;
        break;
      case 'account':
        this.accounts.push(entry.hash);
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
        this.#setFinals(entry.request, { ...noFinals, unsure: entry.recipients }, false);
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
        this.#remove(entry, 'invalid_request');
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
      case 'final':
        // After an alarm the batch is not this request's, nor are its figures.
        if (this.phase(entry.request) === 'accepted') this.#finish(entry);
        break;
    }
  }

  #accept({ request, id, kind, credits, replayOf }: AcceptedEntry): void {
    this.credits += credits;
    if (kind === 'batch' || this.#channel === 'email') this.#unfinal += 1;
    else this.sent += 1;
    if (kind === 'batch') this.#batches.add(id, request);
    this.#acceptances.add(request, replayOf);
    this.move(request, 'accepted');
    this.#details.update(request, { id, kind, credits });
  }

  /** An accepted batch turned out to be another one. */
  #disown(request: number): void {
    this.#acceptances.remove(request);
    if (!this.#finals.isFinal(request)) this.#unfinal -= 1;
    this.#setFinals(request, noFinals, false);
  }

  #remove({ request, revision, indexes }: EntryOf<'removed' | 'moved'>, why: Removal): void {
    this.move(request, 'pending');
    const count = this.takeOut(request, indexes, why);
    this.tally.pending -= count;
    this.tally.rejected += count;
    this.setBody(request, revision + 1);
    if (this.recipients(request) === 0) this.move(request, 'rejected');
  }

  /** Only rows that this job would still send. */
  #moveAway(entry: EntryOf<'moved'>): void {
    const { request, indexes } = entry;
    if (this.phase(request) === 'failed') {
      const count = this.takeOut(request, indexes, 'moved');
      this.tally.failed -= count;
      this.tally.rejected += count;
      if (this.recipients(request) === 0) this.move(request, 'rejected');
    }
    if (this.phase(request) !== 'pending') return;
    this.setBody(request, entry.revision, entry.recipients);
    this.#remove(entry, 'moved');
  }

  /** Members of an accepted request that its batch does not have. */
  #leaveOut({ request, indexes }: EntryOf<'absent'>): void {
    const count = this.takeOut(request, indexes, 'not_in_batch');
    this.tally.accepted -= count;
    this.tally.rejected += count;
  }

  #finish({ request, sent, failed, code }: EntryOf<'final'>): void {
    if (!this.#finals.isFinal(request)) this.#unfinal -= 1;
    this.#setFinals(request, finalsOf(this.recipients(request), sent, failed), true);
    this.#details.update(request, { final: { sent, failed }, ...(code === null ? {} : { code }) });
  }

  #setFinals(request: number, now: Finals, isFinal: boolean): void {
    const change = this.#finals.set(request, now, isFinal);
    this.sent += change.sent;
    this.tally.failed += change.failed;
    this.tally.in_doubt += change.unsure;
    this.tally.accepted -= change.failed + change.unsure;
  }
}
