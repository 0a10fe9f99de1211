import type { Clock } from '../../clock.js';
import type { LaneTrouble } from '../../storage/instances.js';
import type { ShownAnswer } from '../../storage/store.js';
import { Backoff } from '../backoff.js';
import type { Sender, Trouble } from './sender.js';

/** Milliseconds until a message checks again whether it may be tried. */
const askAgain = 250;

/**
 * A time in which a carrier seems to refuse everybody. It is tried with one message after another until it accepts
 * one.
 */
export class Episode implements Trouble {
  /** `account`: the carrier said so. `suspected`: nothing was accepted from several senders, or from the only one. */
  readonly kind: 'account' | 'suspected';
  readonly since: number;
  answer: ShownAnswer;
  /** Senders whose messages failed. They wait before each attempt; others are tried at once. */
  readonly senders = new Set<Sender>();
  readonly #backoff: Backoff;
  /** The message being tried, and the one that failed last. */
  #tried: string | null = null;
  #failed: string | null = null;

  constructor(kind: Episode['kind'], answer: ShownAnswer, clock: Clock) {
    this.kind = kind;
    this.answer = answer;
    this.since = clock.monotonic();
    this.#backoff = new Backoff(clock);
  }

  get state(): LaneTrouble['state'] {
    return this.kind === 'account' ? 'backing_off' : 'suspected';
  }

  /** Whether a sender's message is only sent as the one being tried. A single SMS always counts as an attempt. */
  holds(sender: Sender, isWaited: boolean): boolean {
    return this.kind === 'account' || (!isWaited && this.senders.has(sender));
  }

  /** Milliseconds until a message that it holds may check again; null for any message of a sender. */
  waitOf(sender: Sender, isWaited: boolean, id: string | null): number {
    if (this.#tried !== null && this.#tried !== id) return askAgain;
    return isWaited || !this.senders.has(sender) ? 0 : this.#backoff.left;
  }

  /** Tries a message that need not wait; otherwise returns the milliseconds until it may check again. */
  admit(id: string): number {
    // Prefers another message, if there is one.
    if (this.#failed === id) {
      this.#failed = null;
      return askAgain;
    }
    this.#tried = id;
    return 0;
  }

  isTrying(id: string): boolean {
    return this.#tried === id;
  }

  failed(id: string, sender: Sender): void {
    this.senders.add(sender);
    this.#failed = id;
    this.#backoff.pause();
  }

  /** A message was answered, or will not be submitted. */
  release(id: string): void {
    if (this.#tried === id) this.#tried = null;
  }
}
