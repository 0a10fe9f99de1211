import type { PlanMeta } from '../plan/plan.js';
import { BatchIds } from './batch-ids.js';
import { type End, Ends, endOf, noEnd } from './final-figures.js';
import type { Entry } from './journal.js';
import { type Phase, phases, type Tally, tallyOf } from './phases.js';

export type { Tally };

export type PlanFigures = Pick<PlanMeta, 'requests' | 'recipients' | 'rejected' | 'channel'>;

/**
 * Where every request of a job stands: the journal, replayed. A few bytes a request, so that a million single
 * sends fit; what is rare (entries taken out) is kept apart.
 */
export class JobState {
  readonly requests: number;
  readonly tally: Tally;
  /** Recipients of which it is known that the operator has their message. */
  sent = 0;
  credits = 0;
  balance: number | null = null;
  /** The last `end` of a run, if any. */
  ended: { at: string; exit: number } | null = null;
  /** Job id and plan digest that the journal begins with. */
  job: { id: string; digest: string } | null = null;
  /** The most the job may spend, as last said; null for no limit. */
  limit: number | null = null;
  /** Hashes of the further API keys that it may go on with. */
  readonly accounts: string[] = [];
  /** When the earliest of the replayed acceptances was made; null where none is known. */
  ranAt: string | null = null;
  readonly #channel: PlanFigures['channel'];
  readonly #phase: Uint8Array;
  readonly #revision: Uint16Array;
  readonly #recipients: Uint16Array;
  readonly #removed = new Map<number, Set<number>>();
  /** 1 where a request's acceptance repeats one that this machine never asked for. */
  readonly #replayed: Uint8Array;
  #replays = 0;
  readonly #ends: Ends;
  readonly #batches: BatchIds;
  readonly #refused = new Map<number, string>();
  #open: number;
  #acceptances = 0;
  /** Accepted requests that are still on their way: all but single SMS. */
  #unfinal = 0;

  /** Rows that were left out of the plan as bad count as rejected from the start. */
  constructor({ requests, recipients, rejected: left, channel }: PlanFigures) {
    this.requests = requests;
    this.#channel = channel;
    this.#open = requests;
    this.#phase = new Uint8Array(requests);
    this.#revision = new Uint16Array(requests);
    this.#recipients = new Uint16Array(requests);
    this.#replayed = new Uint8Array(requests);
    this.#ends = new Ends(requests);
    this.#batches = new BatchIds(requests);
    const planned = recipients + left;
    this.tally = { planned, accepted: 0, rejected: left, failed: 0, in_doubt: 0, pending: recipients };
  }

  phase(request: number): Phase {
    return phases[this.#phase[request] ?? 0] ?? 'pending';
  }

  revision(request: number): number {
    return this.#revision[request] ?? 0;
  }

  /** Recipients of the body as it was last sent. */
  recipients(request: number): number {
    return this.#recipients[request] ?? 0;
  }

  /** Positions of the planned request that were refused and taken out. */
  removed(request: number): ReadonlySet<number> {
    return this.#removed.get(request) ?? new Set();
  }

  /** Why a request was last refused and is pending again. */
  refusal(request: number): string | null {
    return this.#refused.get(request) ?? null;
  }

  /** Whether a request that is not settled was last refused for this. */
  wasRefused(code: string): boolean {
    return [...this.#refused.values()].includes(code);
  }

  /** Whether the request still has something to send. */
  isOpen(request: number): boolean {
    const phase = this.phase(request);
    return phase === 'pending' || phase === 'doubt';
  }

  /** How many requests have something left to send. */
  get open(): number {
    return this.#open;
  }

  get finished(): boolean {
    return this.#open === 0;
  }

  /**
   * Whether every acceptance repeats one that this machine never asked for: the job ran before, elsewhere or
   * before its record was lost, and nothing new was sent.
   */
  get ranElsewhere(): boolean {
    return this.#replays > 0 && this.#replays === this.#acceptances;
  }

  /** Whether nothing was ever sent. */
  get untouched(): boolean {
    return this.#recipients.every((count) => count === 0);
  }

  /** Messages of an accepted request that failed, as far as that is known. */
  failed(request: number): number {
    return this.#ends.failed(request);
  }

  has(phase: Phase): boolean {
    return this.#phase.includes(phases.indexOf(phase));
  }

  /** Whether the end of everything that was accepted is known. */
  get final(): boolean {
    return this.#unfinal === 0;
  }

  /** The request whose request was answered with this batch before; null when none was. */
  requestOfBatch(id: string): number | null {
    return this.#batches.requestOf(id);
  }

  /** The last request in a phase; -1 when there is none. */
  last(phase: Phase): number {
    return this.#phase.lastIndexOf(phases.indexOf(phase));
  }

  /** The first request that still has something to send; `requests` when there is none. */
  firstOpen(): number {
    const found = this.#phase.findIndex((_, request) => this.isOpen(request));
    return found === -1 ? this.requests : found;
  }

  /** The requests in a phase, in order. */
  *in(phase: Phase): Iterable<number> {
    for (let request = 0; request < this.requests; request += 1)
      if (this.phase(request) === phase) yield request;
  }

  /** Applies what the journal says, in the journal's order. */
  apply(entry: Entry): void {
    switch (entry[0]) {
      case 'job':
        this.job = { id: entry[1], digest: entry[2] };
        break;
      case 'end':
        this.ended = { at: entry[1], exit: entry[2] };
        this.balance = entry[3] ?? this.balance;
        break;
      case 'limit':
        this.limit = entry[1];
        break;
      case 'account':
        this.accounts.push(entry[1]);
        break;
      case 'send':
        this.#recipients[entry[1]] = entry[3];
        this.#revision[entry[1]] = entry[2];
        this.#move(entry[1], 'doubt');
        break;
      case 'refused':
        // An earlier release wrote it also where another copy was unanswered, and did not say so.
        if (entry[4] === 0) this.#move(entry[1], 'pending');
        this.#refused.set(entry[1], entry[3]);
        break;
      case 'accepted':
        this.credits += entry[4];
        if (entry[5] === 'batch' || this.#channel === 'email') this.#unfinal += 1;
        else this.sent += 1;
        if (entry[5] === 'batch') this.#batches.add(entry[3], entry[1]);
        this.#accept(entry[1], entry[6]);
        break;
      case 'absent':
        this.#leaveOut(entry[1], entry[3]);
        break;
      case 'unsure':
        this.#learn(entry[1], { ...noEnd, unsure: entry[3] }, false);
        break;
      case 'moved':
        this.#handOver(entry[1], entry[2], entry[3], entry[4]);
        break;
      case 'alarm':
        if (this.phase(entry[1]) === 'accepted') this.#disown(entry[1]);
        this.#move(entry[1], 'alarm');
        break;
      case 'removed':
        this.#remove(entry[1], entry[2], entry[3]);
        break;
      case 'revised':
        this.#revision[entry[1]] = entry[2] + 1;
        this.#move(entry[1], 'pending');
        break;
      case 'final':
        // An alarm has disowned its batch, and whatever became of that.
        if (this.phase(entry[1]) === 'accepted') this.#finish(entry[1], entry[2], entry[3]);
        break;
      default:
        this.#move(entry[1], entry[0]);
        break;
    }
  }

  #move(request: number, to: Phase): void {
    const from = this.phase(request);
    const recipients = this.#recipients[request] ?? 0;
    this.tally[tallyOf[from]] -= recipients;
    this.tally[tallyOf[to]] += recipients;
    const wasOpen = this.isOpen(request);
    this.#phase[request] = phases.indexOf(to);
    this.#open += Number(this.isOpen(request)) - Number(wasOpen);
    if (to !== 'pending') this.#refused.delete(request);
  }

  /** An accepted batch has turned out to be another one. */
  #disown(request: number): void {
    this.#acceptances -= 1;
    this.#replays -= this.#replayed[request] ?? 0;
    this.#replayed[request] = 0;
    if (!this.#ends.isFinal(request)) this.#unfinal -= 1;
    this.#learn(request, noEnd, false);
  }

  #remove(request: number, revision: number, indexes: readonly number[]): void {
    this.#move(request, 'pending');
    const count = this.#takeOut(request, indexes);
    this.tally.pending -= count;
    this.tally.rejected += count;
    this.#revision[request] = revision + 1;
    if (this.#recipients[request] === 0) this.#move(request, 'rejected');
  }

  /** Gives how many of them were still in. */
  #takeOut(request: number, indexes: readonly number[]): number {
    const removed = this.#removed.get(request) ?? new Set();
    this.#removed.set(request, removed);
    const before = removed.size;
    for (const index of indexes) removed.add(index);
    this.#recipients[request] = (this.#recipients[request] ?? 0) - removed.size + before;
    return removed.size - before;
  }

  /** Only what the job itself would still send can go to another one. */
  #handOver(request: number, revision: number, indexes: readonly number[], recipients: number): void {
    if (this.phase(request) === 'failed') {
      const count = this.#takeOut(request, indexes);
      this.tally.failed -= count;
      this.tally.rejected += count;
      if (this.#recipients[request] === 0) this.#move(request, 'rejected');
    }
    if (this.phase(request) !== 'pending') return;
    this.#recipients[request] = recipients;
    this.#remove(request, revision, indexes);
  }

  #accept(request: number, replayOf: string | undefined): void {
    this.#acceptances += 1;
    this.#move(request, 'accepted');
    if (replayOf === undefined) return;
    this.#replayed[request] = 1;
    this.#replays += 1;
    if (replayOf !== '' && (this.ranAt === null || replayOf < this.ranAt)) this.ranAt = replayOf;
  }

  /** Members of an accepted request that its batch does not have. */
  #leaveOut(request: number, indexes: readonly number[]): void {
    const count = this.#takeOut(request, indexes);
    this.tally.accepted -= count;
    this.tally.rejected += count;
  }

  #finish(request: number, sent: number, failed: number): void {
    if (!this.#ends.isFinal(request)) this.#unfinal -= 1;
    this.#learn(request, endOf(this.#recipients[request] ?? 0, sent, failed), true);
  }

  #learn(request: number, now: End, isFinal: boolean): void {
    const { sent, failed, unsure } = this.#ends.learn(request, now, isFinal);
    this.sent += sent;
    this.tally.failed += failed;
    this.tally.in_doubt += unsure;
    this.tally.accepted -= failed + unsure;
  }
}
