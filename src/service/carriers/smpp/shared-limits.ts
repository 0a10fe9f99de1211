import type { Clock } from '../../clock.js';
import type { Report } from '../../report.js';
import type { Instances } from '../../storage/instances.js';
import type { BindClaim, RouteBinds, RouteRates } from '../../storage/route-limits.js';
import { responseMs } from './connection/session.js';
import type { Bind, RouteLimits } from './limits.js';

/**
 * Milliseconds after which another instance may take a bind that was not renewed, because its instance may have died.
 */
export const bindLeaseMs = 20_000;
const renewEvery = 5_000;
/** Milliseconds before the end of a lease by which its connection is closed. */
const closesBefore = 1_000;
/** Milliseconds between the binds of an instance, so that instances that start together share them. */
const spreadMs = 4_000;

export interface SharedLimitsParts {
  store: RouteBinds;
  instances: Pick<Instances, 'list'>;
  rateLimiter: RouteRates;
  clock: Clock;
  /** Unique to this service object. */
  owner: string;
  report: Report;
}

/**
 * Limits for all instances on one store. Deadlines are measured by this instance, on its monotonic clock, from before
 * the request.
 */
export function sharedRouteLimits({ rateLimiter, ...parts }: SharedLimitsParts): RouteLimits {
  const { store, instances, clock, owner } = parts;
  const inUse = new Set<string>();
  /** When a bind of a route was last taken here, on the monotonic clock. */
  const takenAt = new Map<string, number>();

  /** The same holder again if nobody knows whether a lease was granted. */
  function holderOf(route: string): string {
    for (let number = 1; ; number += 1) {
      const holder = `${owner}.${number}`;
      if (!inUse.has(`${route} ${holder}`)) return holder;
    }
  }

  const heldOf = (route: string) => [...inUse].filter((name) => name.startsWith(`${route} `)).sort();

  /** The binds to hold here at most, and whether another instance has none. */
  async function shareOf(lane: string, binds: number): Promise<{ share: number; isMissed: boolean }> {
    const others = (await instances.list())
      .filter(({ id }) => id !== owner)
      .flatMap(({ carriers }) => carriers.filter((one) => one.lane === lane));
    const isMissed = others.some(({ state }) => state === 'down');
    const share = Math.ceil(binds / (others.length + 1));
    // Shares are rounded up: without this, those of all but one could take every bind.
    const leavesOne = Math.max(1, Math.floor((binds - 1) / others.length));
    return { share: isMissed ? Math.min(share, leavesOne) : share, isMissed };
  }

  return {
    async takeBind({ lane, mode, binds }, onChange) {
      const route = `${lane}/${mode}`;
      // Also while every other instance has one: what one drops, it takes again at once.
      const { share } = heldOf(route).length === 0 ? { share: binds } : await shareOf(lane, binds);
      const held = heldOf(route).length;
      const last = takenAt.get(route);
      if (last !== undefined && held > 0 && (held >= share || clock.monotonic() < last + spreadMs))
        return null;
      const claim = { route, binds, holder: holderOf(route) };
      const name = `${route} ${claim.holder}`;
      inUse.add(name);
      const free = () => void inUse.delete(name);
      try {
        const since = clock.monotonic();
        takenAt.set(route, since);
        if (await store.leaseBind({ ...claim, leaseMs: bindLeaseMs }))
          return new LeasedBind(claim, since, parts, {
            onChange,
            onReleased: free,
            async isToSpare() {
              const held = heldOf(route);
              if (held.length === 1 || held.at(-1) !== name) return false;
              const { share, isMissed } = await shareOf(lane, binds);
              return isMissed && held.length > share;
            },
          });
      } catch (error) {
        free();
        throw error;
      }
      free();
      return null;
    },
    takePermits: (route, perSecond, wanted) => rateLimiter.takePermits(route, perSecond, wanted),
    lowerRate: (route, perSecond, answeredMs) => rateLimiter.lowerRate(route, perSecond, answeredMs),
  };
}

interface BindEvents {
  onChange(): void;
  onReleased(): void;
  /** Whether it is this instance's excess bind. */
  isToSpare(): Promise<boolean>;
}

class LeasedBind implements Bind {
  readonly #claim: BindClaim;
  readonly #parts: Omit<SharedLimitsParts, 'rateLimiter'>;
  readonly #events: BindEvents;
  /** When its lease was requested, on the monotonic clock. */
  #since: number;
  #isEnded = false;
  isGivenBack = false;
  #cancelRenewal: () => void = () => {};
  #cancelEnd: () => void = () => {};

  constructor(
    claim: BindClaim,
    since: number,
    parts: Omit<SharedLimitsParts, 'rateLimiter'>,
    events: BindEvents,
  ) {
    this.#claim = claim;
    this.#since = since;
    this.#parts = parts;
    this.#events = events;
    this.#renewLater();
    this.#watch();
  }

  isHeld(): boolean {
    return !this.#isEnded && this.#left > closesBefore;
  }

  mayBegin(): boolean {
    return !this.#isEnded && !this.isGivenBack && this.#left > responseMs;
  }

  async release(): Promise<void> {
    this.#end();
    try {
      await this.#parts.store.releaseBind(this.#claim);
    } finally {
      this.#events.onReleased();
    }
  }

  get #left(): number {
    return this.#since + bindLeaseMs - this.#parts.clock.monotonic();
  }

  #end(): void {
    this.#isEnded = true;
    this.#cancelRenewal();
    this.#cancelEnd();
  }

  #renewLater(): void {
    this.#cancelRenewal = this.#parts.clock.after(renewEvery, () => void this.#renew());
  }

  /** Reports when submissions may no longer start, and when it is lost. */
  #watch(): void {
    const left = this.mayBegin() ? this.#left - responseMs : this.#left - closesBefore;
    this.#cancelEnd = this.#parts.clock.after(left, () => {
      if (this.isHeld()) this.#watch();
      else this.#end();
      this.#events.onChange();
    });
  }

  async #renew(): Promise<void> {
    const { store, clock, report } = this.#parts;
    const since = clock.monotonic();
    try {
      // It lasts until the end of its lease, so that what was sent is answered.
      this.isGivenBack = await this.#events.isToSpare();
      if (this.isGivenBack) return this.#events.onChange();
      const isLeased = await store.leaseBind({ ...this.#claim, leaseMs: bindLeaseMs });
      if (this.#isEnded) return;
      if (isLeased) this.#since = since;
      else this.#end();
      this.#events.onChange();
    } catch (error) {
      // The next renewal tries again, for as long as the lease lasts.
      report(error, { level: 'warning' });
    }
    if (!this.#isEnded) this.#renewLater();
  }
}
