import type { Clock } from '../clock.js';
import type { Report } from '../report.js';
import type { Store } from '../storage/store.js';

/**
 * Milliseconds that the unsubmitted messages of a process wait for another one, if nobody can tell whether it has
 * died.
 */
export const leaseTime = 30_000;

/** The leases of the messages being dispatched here, renewed for as long as that takes. */
export class HeldLeases {
  readonly leaseMs: number;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #report: Report;
  /** By token, oldest first: when leases that no message holds yet started, on the monotonic clock. */
  readonly #begun = new Map<string, number>();
  /** By token: when the lease started or was renewed (monotonic), and how many messages hold it. */
  readonly #held = new Map<string, { since: number; messages: number }>();
  #cancelRenewal: (() => void) | null = null;

  constructor(store: Store, clock: Clock, report: Report, leaseMs: number) {
    this.#store = store;
    this.#clock = clock;
    this.#report = report;
    this.leaseMs = leaseMs;
  }

  /** Called before a lease is requested: it counts from now, however long the request takes. */
  begin(token: string): void {
    const now = this.#clock.monotonic();
    for (const [old, begun] of this.#begun) {
      if (begun + this.leaseMs > now) break;
      this.#begun.delete(old);
    }
    this.#begun.set(token, now);
  }

  /** On the monotonic clock. A forgotten lease has expired; it has not lasted for ever. */
  beginningOf(token: string): number {
    return this.#begun.get(token) ?? this.#clock.monotonic() - this.leaseMs - 1;
  }

  hold(token: string): void {
    const held = this.#held.get(token);
    if (held === undefined) this.#held.set(token, { since: this.beginningOf(token), messages: 1 });
    else held.messages += 1;
    this.#cancelRenewal ??= this.#clock.after(this.#renewEvery, () => void this.#renew());
  }

  release(token: string): void {
    const held = this.#held.get(token);
    if (held !== undefined) held.messages -= 1;
    if (held?.messages !== 0) return;
    this.#held.delete(token);
    this.#begun.delete(token);
  }

  /** Whether another process may have ended it at a time on the monotonic clock. */
  isOver(token: string, now: number): boolean {
    const since = this.#held.get(token)?.since ?? Number.NEGATIVE_INFINITY;
    return now >= since + this.leaseMs;
  }

  /** Stops the timer when nothing is held any more. */
  stop(): void {
    this.#cancelRenewal?.();
    this.#cancelRenewal = null;
  }

  get #renewEvery(): number {
    return this.leaseMs / 3;
  }

  async #renew(): Promise<void> {
    this.#cancelRenewal = null;
    if (this.#held.size === 0) return;
    this.#cancelRenewal = this.#clock.after(this.#renewEvery, () => void this.#renew());
    const now = this.#clock.monotonic();
    const aging = [...this.#held].filter(([, { since }]) => since < now - this.#renewEvery / 2);
    if (aging.length === 0) return;
    try {
      const renewed = await this.#store.renewLeases(
        aging.map(([token]) => token),
        this.leaseMs,
      );
      for (const [index, [, held]] of aging.entries()) if (renewed[index]) held.since = now;
    } catch (error) {
      // The next renewal retries.
      this.#report(error, { level: 'warning' });
    }
  }
}
