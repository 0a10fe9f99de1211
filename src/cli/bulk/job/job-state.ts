import type { PlanFigures } from '../plan/plan.js';
import { suppressedCode } from '../plan/reported-rows.js';
import {
  type Counts,
  countsOf,
  isMoved,
  type Moved,
  type Outcome,
  outcomeOf,
  statusOfRemoval,
} from './counts.js';
import { figuresOf } from './final-figures.js';
import type { AcceptedEntry, Entry, JobEntry, MovedEntry, RequestEntry } from './journal/entries.js';
import { RequestFacts, type RowPlace } from './request-facts.js';

/**
 * The state of a job: the only fold of the journal. An entry changes facts of one request, and the counts follow from
 * them: what the request counted for is taken off, and what it counts for now is added.
 */
export class JobState extends RequestFacts {
  /** All recipients, including rows that are not in the plan. */
  readonly planned: number;
  /** The number of recipients by outcome: see `countsOf`. */
  readonly outcomes: Record<Outcome, number>;
  /** Recipients of requests without an answer. */
  unanswered = 0;
  /** The number of open requests. */
  open: number;
  credits = 0;
  balance: number | null = null;
  /** How the last run ended; null during a run, and after one that was killed. */
  ended: { at: string; exit: number } | null = null;
  /** The job that the journal was started for. */
  job: { id: string; digest: string } | null = null;
  /** Whether the rows that it has from other jobs are its own. */
  confirmed = false;
  /** Whether it was held, and not started since: that takes the name of its plan. */
  held: boolean;
  /** The maximum that the job may spend, as last set; null for no limit. */
  limit: number | null;
  /** What a held job cost when it was held: it may not spend more until a limit is set. Null for another job. */
  heldPrice: number | null;
  /** The last finished run's own limit of requests a second; null for none. */
  rate: number | null = null;
  /** Hashes of additional API keys of the job's project. */
  readonly accounts: string[] = [];
  /** When the earliest repeated acceptance was made; null if unknown. */
  ranAt: string | null = null;
  readonly channel: PlanFigures['channel'];
  readonly #movedTo = new Set<string>();
  /** Accepted requests, and those whose acceptance repeats an earlier one. */
  #accepted = 0;
  #replays = 0;
  /** Accepted requests without final figures, and those whose figures do not include how many are unknown. */
  #unfinal = 0;
  #unsaid = 0;

  /** Rejected rows, which are not in the plan, count as rejected. */
  constructor({ requests, recipients, rejected, channel, limit, held, credits }: PlanFigures) {
    super(requests);
    this.limit = limit ?? null;
    this.held = held !== undefined;
    this.heldPrice = this.held && limit === undefined ? credits || null : null;
    this.open = requests;
    this.planned = recipients + rejected;
    const accepted = { sent: 0, unknown: 0, queued: 0, failed: 0, suppressed: 0 };
    this.outcomes = { ...accepted, rejected, moved: 0, in_doubt: 0, pending: recipients };
    this.channel = channel;
  }

  get counts(): Counts {
    return countsOf(this);
  }

  get finished(): boolean {
    return this.open === 0;
  }

  /** The maximum that the job may spend; null for no limit. */
  get spendLimit(): number | null {
    return this.heldPrice ?? this.limit;
  }

  /** Whether every accepted request has its final figures. */
  get final(): boolean {
    return this.#unfinal === 0;
  }

  /** Whether the final figures include how many messages are unknown. */
  get knowsUnknown(): boolean {
    return this.#unsaid === 0;
  }

  /**
   * Whether every acceptance repeats an earlier one: the job ran before, elsewhere or before its record was lost, and
   * nothing new was sent.
   */
  get ranElsewhere(): boolean {
    return this.#replays > 0 && this.#replays === this.#accepted;
  }

  /** The jobs that took rows from this one. */
  get movedTo(): readonly string[] {
    return [...this.#movedTo];
  }

  /** Whose row it is, if a report calls it `failed`, `rejected` or `pending`; `unsent` rows are free for other jobs. */
  standingOf(
    { request, index }: RowPlace,
    reported: string,
  ): 'open' | 'sent' | 'suppressed' | 'unsent' | Moved {
    const removal = this.removed(request).get(index);
    if (removal !== undefined) return isMoved(removal) ? removal : 'unsent';
    switch (this.phase(request)) {
      case 'pending':
      case 'doubt':
      case 'alarm':
        return 'open';
      case 'suppressed':
        return 'suppressed';
      case 'failed':
      case 'rejected':
        return 'unsent';
      case 'accepted': {
        if (reported !== 'failed') return 'sent';
        // A message of a batch fails after the batch was accepted, and so does an email; a failed SMS was retried.
        const isSms = this.channel === 'sms' || this.revision(request) > 0;
        return this.kindOf(request) === 'single' && isSms ? 'sent' : 'unsent';
      }
    }
  }

  /** Another job took rows that are unsent here. */
  moveAway(request: number, indexes: readonly number[], to: string): void {
    this.#count(request, -1);
    this.#remove(request, indexes, to);
    this.#count(request, 1);
  }

  /** Applies an entry, in the order of the journal. */
  apply(entry: Entry): void {
    if (!('request' in entry)) this.#applyToJob(entry);
    else {
      this.#count(entry.request, -1);
      this.#change(entry);
      this.#count(entry.request, 1);
    }
  }

  #applyToJob(entry: JobEntry): void {
    switch (entry.type) {
      case 'job':
        this.job = { id: entry.id, digest: entry.digest };
        break;
      case 'end':
        this.ended = { at: entry.at, exit: entry.exit };
        this.balance = entry.balance;
        this.rate = entry.rate;
        this.endRun(entry.at);
        break;
      case 'confirmed':
        this.confirmed = true;
        this.held = false;
        break;
      case 'limit':
        this.limit = entry.credits;
        this.heldPrice = null;
        break;
      case 'account':
        this.accounts.push(entry.hash);
        // It may be of another project.
        if (!entry.isChecked) this.balance = null;
        break;
    }
  }

  /** Adds what a request counts for, or takes it off; what is in no other outcome is pending. */
  #count(request: number, by: 1 | -1): void {
    const { outcomes } = this;
    for (const removal of this.removed(request).values()) {
      outcomes[statusOfRemoval(removal)] += by;
      outcomes.pending -= by;
    }
    const phase = this.phase(request);
    if (phase === 'pending' || phase === 'doubt') this.open += by;
    if (phase === 'pending') return;
    const recipients = by * this.recipients(request);
    outcomes.pending -= recipients;
    if (phase === 'accepted') this.#countAccepted(request, by);
    else outcomes[outcomeOf[phase]] += recipients;
    if (phase === 'doubt') this.unanswered += recipients;
  }

  #countAccepted(request: number, by: 1 | -1): void {
    const { outcomes } = this;
    const { sent, unknown, failed, suppressed, unsure } = this.finals(request);
    outcomes.sent += by * sent;
    outcomes.unknown += by * unknown;
    outcomes.failed += by * failed;
    outcomes.suppressed += by * suppressed;
    outcomes.in_doubt += by * unsure;
    outcomes.queued += by * (this.recipients(request) - sent - unknown - failed - suppressed - unsure);
    this.#accepted += by;
    this.#replays += by * (this.columns.isReplay[request] ?? 0);
    const knowledge = this.knowledge(request);
    if (knowledge === 'some') this.#unfinal += by;
    if (knowledge !== 'everything') this.#unsaid += by;
  }

  #change(entry: RequestEntry): void {
    const { request } = entry;
    switch (entry.type) {
      case 'send':
        this.ended = null;
        this.columns.revision[request] = entry.revision;
        this.columns.recipients[request] = entry.recipients;
        this.setSent(request, null);
        this.enter(request, 'doubt', '');
        break;
      case 'refused':
        this.enter(request, entry.unanswered === 0 ? 'pending' : this.phase(request), entry.code);
        break;
      case 'accepted':
        this.#accept(entry);
        break;
      case 'absent':
        this.remove(request, entry.indexes, 'not_in_batch');
        break;
      case 'unsure':
        this.setUnsure(request, entry.recipients);
        break;
      case 'moved':
        this.#moveAway(entry);
        break;
      case 'alarm':
        this.setSent(request, null);
        this.enter(request, 'alarm');
        break;
      case 'removed':
        this.remove(request, entry.indexes, 'invalid_request');
        this.columns.revision[request] = entry.revision + 1;
        this.enter(request, this.recipients(request) === 0 ? 'rejected' : 'pending');
        break;
      case 'revised':
        this.columns.revision[request] = entry.revision + 1;
        this.columns.id.set(request, '');
        this.enter(request, 'pending', '');
        break;
      case 'rejected':
        this.enter(request, entry.code === suppressedCode ? 'suppressed' : 'rejected', entry.code);
        break;
      case 'failed':
        this.columns.id.set(request, entry.id ?? '');
        this.enter(request, 'failed', entry.code);
        break;
      case 'progress':
        // After an alarm, the batch and its figures are not this request's.
        if (this.phase(request) === 'accepted' && this.knowledge(request) === 'some')
          this.setFigures(request, entry, 'some');
        break;
      case 'final':
        if (this.phase(request) !== 'accepted') break;
        this.setFigures(request, figuresOf(entry), entry.unknown === null ? 'final' : 'everything');
        if (entry.code !== null) this.columns.code.set(request, entry.code);
        break;
    }
  }

  #accept({ request, id, kind, credits, replayOf, acceptedAt }: AcceptedEntry): void {
    this.credits += credits;
    this.columns.credits[request] = credits;
    this.columns.id.set(request, id);
    this.columns.isReplay[request] = Number(replayOf !== null);
    if (replayOf && (this.ranAt === null || replayOf < this.ranAt)) this.ranAt = replayOf;
    this.setSent(request, acceptedAt ?? (Date.parse(replayOf ?? '') || null));
    if (kind === 'batch') this.addBatch(request, id);
    // A single SMS has been accepted by the operator when the service accepts it.
    else if (this.channel === 'sms') this.setFigures(request, { sent: 1, failed: 0, unknown: null }, 'some');
    this.enter(request, 'accepted');
  }

  /** In journals of earlier releases: also rows that this job would still send. */
  #moveAway({ request, revision, indexes, recipients, job }: MovedEntry): void {
    const phase = this.phase(request);
    if (phase === 'doubt' || phase === 'alarm') return;
    if (phase === 'pending') {
      this.columns.revision[request] = revision + 1;
      this.columns.recipients[request] = recipients;
    }
    this.#remove(request, indexes, job ?? '');
  }

  #remove(request: number, indexes: readonly number[], to: string): void {
    if (to !== '') this.#movedTo.add(to);
    this.remove(request, indexes, { to });
    const phase = this.phase(request);
    const isSent = phase === 'accepted' || phase === 'doubt' || phase === 'alarm';
    if (!isSent && this.recipients(request) === 0) this.enter(request, 'rejected');
  }
}
