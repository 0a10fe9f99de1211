import type { Clock } from '../clock.js';
import type { Report } from '../report.js';
import type { Lease, Store } from '../storage/store.js';

/** Milliseconds. A process that dies keeps others waiting for its messages as long as a lease. */
export const leaseTime = 5_000;
const renewEvery = 1_500;

/** The leases of the messages that are on their way here, renewed while that takes long. */
export class HeldLeases {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #report: Report;
  /** By token, the oldest first: when leases that nothing holds yet began, on the monotonic clock. */
  readonly #begun = new Map<string, number>();
  /** By token: until when it may submit (monotonic), as last renewed, and how many messages hold them. */
  readonly #held = new Map<string, { deadline: number; messages: number }>();
  #cancelRenewal: (() => void) | null = null;

  constructor(store: Store, clock: Clock, report: Report) {
    this.#store = store;
    this.#clock = clock;
    this.#report = report;
  }

  /** A lease is about to be asked for: it counts from now, however long that takes. */
  begin(token: string): void {
    const now = this.#clock.monotonic();
    for (const [old, begun] of this.#begun) {
      if (begun + leaseTime > now) break;
      this.#begun.delete(old);
    }
    this.#begun.set(token, now);
  }

  hold({ token }: Lease): void {
    const begun = this.#begun.get(token) ?? Number.NEGATIVE_INFINITY;
    const held = this.#held.get(token) ?? { deadline: begun + leaseTime, messages: 0 };
    this.#begun.delete(token);
    held.messages += 1;
    this.#held.set(token, held);
    this.#cancelRenewal ??= this.#clock.after(renewEvery, () => void this.#renew());
  }

  release({ token }: Lease): void {
    const held = this.#held.get(token);
    if (held !== undefined) held.messages -= 1;
    if (held?.messages === 0) this.#held.delete(token);
  }

  /** On the monotonic clock. */
  deadlineOf({ token }: Lease): number {
    return this.#held.get(token)?.deadline ?? Number.NEGATIVE_INFINITY;
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
    const deadline = this.#clock.monotonic() + leaseTime;
    const ending = [...this.#held].filter(([, held]) => held.deadline < deadline - renewEvery / 2);
    try {
      const renewed = await this.#store.renewLeases(
        ending.map(([token]) => token),
        this.#clock.now() + leaseTime,
      );
      for (const [index, [, held]] of ending.entries()) if (renewed[index]) held.deadline = deadline;
    } catch (error) {
      // The next renewal tries again; a lease that ends meanwhile stops its submissions.
      this.#report(error, { level: 'warning' });
    }
  }
}
