import type { Clock } from '../../clock.js';
import type { ShownAnswer } from '../../storage/store.js';
import { Share } from './share.js';

/** Consecutive recipients with the same answer, after which it is hardly about each of them. */
const mostAlike = 5;
/** Messages a second from a suspected sender. */
const suspectedRate = 1;

/** Consecutive recipients with the same answer. */
export class Row {
  #code = '';
  readonly #recipients = new Set<string>();

  add(code: string, recipient: string): void {
    if (code !== this.#code) this.clear();
    this.#code = code;
    if (!this.isFull) this.#recipients.add(recipient);
  }

  clear(): void {
    this.#recipients.clear();
  }

  get isEmpty(): boolean {
    return this.#recipients.size === 0;
  }

  get isFull(): boolean {
    return this.#recipients.size >= mostAlike;
  }
}

/** A trouble, with the last answer about it. */
export interface Trouble {
  /** On the monotonic clock. */
  since: number;
  answer: ShownAnswer;
}

/** A project with messages in a lane, as known from the answers to them. */
export class Sender {
  readonly project: string;
  /** Messages claimed here. */
  inHand = 0;
  /** Since one of its messages was accepted, and since anybody's was. */
  readonly row = new Row();
  readonly laneRow = new Row();
  suspected: Trouble | null = null;
  throttled: Trouble | null = null;
  /** Of the lane's rate; lowered while it is throttled. */
  readonly share: Share;
  /**
   * Whether one of its messages got an answer about the account; `contradicted`: others were accepted since, so the
   * answer is about this sender.
   */
  account: 'fine' | 'refused' | 'contradicted' = 'fine';
  /** When it was deferred last, on the monotonic clock. */
  deferredAt = 0;

  constructor(project: string, clock: Clock) {
    this.project = project;
    this.share = new Share(clock);
  }

  get isTroubled(): boolean {
    if (this.suspected !== null || this.throttled !== null) return true;
    return this.account !== 'fine' || !this.row.isEmpty || !this.laneRow.isEmpty;
  }

  /** One of its messages was accepted. */
  recover(): void {
    this.row.clear();
    this.suspected = null;
    this.account = 'fine';
  }

  /** Messages a second that it may submit at a lane's rate; null for no limit. */
  rate(laneRate: number): number | null {
    if (this.suspected !== null) return suspectedRate;
    const { factor } = this.share;
    return factor === 1 ? null : Math.max(1, laneRate * factor);
  }
}

/** Senders of whom nothing was accepted while nothing of anybody was: two of them, or the only one. */
export function suspectsOf(senders: readonly Sender[]): Sender[] {
  const full = senders.filter(({ laneRow }) => laneRow.isFull);
  const others = senders.some(({ inHand, laneRow }) => inHand > 0 && !laneRow.isFull);
  return full.length > 1 || !others ? full : [];
}
