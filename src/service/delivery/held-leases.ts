import type { Clock } from '../clock.js';
import type { Report } from '../report.js';
import type { Lease, Store } from '../store/store.js';

/** Milliseconds. A process that dies keeps others waiting for its messages as long as a lease. */
export const leaseTime = 5_000;
const renewEvery = 1_500;

/** The leases of the messages that are on their way here, renewed while that takes long. */
export class HeldLeases {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #report: Report;
  /** By token: when they end, as last renewed, and how many messages hold them. */
  readonly #held = new Map<string, { until: number; messages: number }>();
  #cancelRenewal: (() => void) | null = null;

  constructor(store: Store, clock: Clock, report: Report) {
    this.#store = store;
    this.#clock = clock;
    this.#report = report;
  }

  hold({ token, until }: Lease): void {
    const held = this.#held.get(token) ?? { until, messages: 0 };
    held.messages += 1;
    this.#held.set(token, held);
    this.#cancelRenewal ??= this.#clock.after(renewEvery, () => void this.#renew());
  }

  release({ token }: Lease): void {
    const held = this.#held.get(token);
    if (held !== undefined) held.messages -= 1;
    if (held?.messages === 0) this.#held.delete(token);
  }

  endOf({ token, until }: Lease): number {
    return this.#held.get(token)?.until ?? until;
  }

  /** Once nothing is held: no timer stays behind. */
  stop(): void {
    this.#cancelRenewal?.();
    this.#cancelRenewal = null;
  }

  async #renew(): Promise<void> {
    this.#cancelRenewal = null;
    if (this.#held.size === 0) return;
    this.#cancelRenewal = this.#clock.after(renewEvery, () => void this.#renew());
    const until = this.#clock.now() + leaseTime;
    const ending = [...this.#held].filter(([, held]) => held.until < until - renewEvery / 2);
    try {
      const renewed = await this.#store.renewLeases(
        ending.map(([token]) => token),
        until,
      );
      for (const [index, [, held]] of ending.entries()) if (renewed[index]) held.until = until;
    } catch (error) {
      // The next renewal tries again; a lease that ends meanwhile stops its submissions.
      this.#report(error, { level: 'warning' });
    }
  }
}
