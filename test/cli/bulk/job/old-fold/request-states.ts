import type { PlanMeta } from '../../../../../src/cli/bulk/plan/plan.js';
import { type Counts, countsOf, type Outcome } from './counts.js';
import { outcomeOf, type Phase, phases } from './phases.js';

/** Why a recipient was removed from its request. A moved one counts as moved, any other as rejected. */
export type Removal = 'invalid_request' | 'not_in_batch' | Moved;

/** Moved to another job; '' if a journal of an earlier release does not name it. */
export interface Moved {
  to: string;
}

export const isMoved = (removal: Removal | undefined): removal is Moved => typeof removal === 'object';

const noRemovals: ReadonlyMap<number, Removal> = new Map();

export const statusOfRemoval = (removal: Removal) => (isMoved(removal) ? 'moved' : 'rejected');

/** Phase, revision and recipients of every request, and all recipients by outcome: 5 bytes a request. */
export class RequestStates {
  readonly requests: number;
  /** All recipients, including rows that are not in the plan. */
  readonly planned: number;
  /** The number of recipients by outcome: see `countsOf`. */
  readonly outcomes: Record<Outcome, number>;
  /** Recipients of requests without an answer. */
  unanswered = 0;
  readonly #phase: Uint8Array;
  readonly #revision: Uint16Array;
  readonly #recipients: Uint16Array;
  readonly #removed = new Map<number, Map<number, Removal>>();
  readonly #refused = new Map<number, string>();
  #open: number;

  constructor({ requests, recipients, rejected }: Pick<PlanMeta, 'requests' | 'recipients' | 'rejected'>) {
    this.requests = requests;
    this.#open = requests;
    this.#phase = new Uint8Array(requests);
    this.#revision = new Uint16Array(requests);
    this.#recipients = new Uint16Array(requests);
    this.planned = recipients + rejected;
    const none = { sent: 0, unknown: 0, queued: 0, failed: 0, moved: 0, in_doubt: 0 };
    this.outcomes = { ...none, rejected, pending: recipients };
  }

  get counts(): Counts {
    return countsOf(this);
  }

  phase(request: number): Phase {
    return phases[this.#phase[request] ?? 0] ?? 'pending';
  }

  revision(request: number): number {
    return this.#revision[request] ?? 0;
  }

  /** Recipients of the body that was last sent. */
  recipients(request: number): number {
    return this.#recipients[request] ?? 0;
  }

  /** Removed recipients, by their position in the planned request. */
  removed(request: number): ReadonlyMap<number, Removal> {
    return this.#removed.get(request) ?? noRemovals;
  }

  /** Why a pending request was last refused. */
  refusal(request: number): string | null {
    return this.#refused.get(request) ?? null;
  }

  /** Whether an open request was last refused with this code. */
  wasRefused(code: string): boolean {
    return [...this.#refused.values()].includes(code);
  }

  /** Whether the request still has something to send. */
  isOpen(request: number): boolean {
    const phase = this.phase(request);
    return phase === 'pending' || phase === 'doubt';
  }

  /** The number of open requests. */
  get open(): number {
    return this.#open;
  }

  get finished(): boolean {
    return this.#open === 0;
  }

  /** Whether nothing was ever sent. */
  get untouched(): boolean {
    return this.#recipients.every((count) => count === 0);
  }

  has(phase: Phase): boolean {
    return this.#phase.includes(phases.indexOf(phase));
  }

  /** The last request in a phase; -1 if there is none. */
  last(phase: Phase): number {
    return this.#phase.lastIndexOf(phases.indexOf(phase));
  }

  /** The first open request; `requests` if there is none. */
  firstOpen(): number {
    const found = this.#phase.findIndex((_, request) => this.isOpen(request));
    return found === -1 ? this.requests : found;
  }

  /** The requests in a phase, in order. */
  *in(phase: Phase): Iterable<number> {
    for (let request = 0; request < this.requests; request += 1)
      if (this.phase(request) === phase) yield request;
  }

  protected setBody(request: number, revision: number, recipients = this.recipients(request)): void {
    this.#revision[request] = revision;
    this.#recipients[request] = recipients;
  }

  protected setRefusal(request: number, code: string): void {
    this.#refused.set(request, code);
  }

  protected move(request: number, to: Phase): void {
    const from = this.phase(request);
    const recipients = this.recipients(request);
    this.outcomes[outcomeOf[from]] -= recipients;
    this.outcomes[outcomeOf[to]] += recipients;
    if (from === 'doubt') this.unanswered -= recipients;
    if (to === 'doubt') this.unanswered += recipients;
    const wasOpen = this.isOpen(request);
    this.#phase[request] = phases.indexOf(to);
    this.#open += Number(this.isOpen(request)) - Number(wasOpen);
    if (to !== 'pending') this.#refused.delete(request);
  }

  /** Changes why recipients were removed; returns how many of them had counted as rejected. */
  protected relabel(request: number, indexes: readonly number[], why: Removal): number {
    const removed = this.#removed.get(request);
    const rejected = indexes.filter((index) => removed?.has(index) && !isMoved(removed.get(index)));
    for (const index of rejected) removed?.set(index, why);
    return rejected.length;
  }

  /** Returns how many of them had not been removed before. */
  protected takeOut(request: number, indexes: readonly number[], why: Removal): number {
    const removed = this.#removed.get(request) ?? new Map<number, Removal>();
    this.#removed.set(request, removed);
    const before = removed.size;
    for (const index of indexes) removed.set(index, why);
    this.#recipients[request] = this.recipients(request) - removed.size + before;
    return removed.size - before;
  }
}
