import type { Clock } from '../../clock.js';
import type { Report } from '../../report.js';
import type { Instances } from '../../storage/instances.js';
import type { BindClaim, RouteBinds, RouteRates } from '../../storage/route-limits.js';
import { responseMs } from './connection/session.js';
import type { Bind, RouteLimits } from './limits.js';

/** Milliseconds after which another instance may have a bind that is not renewed: its instance may be gone. */
export const bindLeaseMs = 20_000;
const renewEvery = 5_000;
/** Before the end of a lease: its connection is gone by then. */
const closesBefore = 1_000;
/** Between the binds of an instance: those that start together share them. */
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

/** For all instances on one store. Deadlines are the instance's own, on its monotonic clock, from before it asked. */
export function sharedRouteLimits({ rateLimiter, ...parts }: SharedLimitsParts): RouteLimits {
  const { store, instances, clock, owner } = parts;
  const inUse = new Set<string>();
  /** When a bind of a route was taken here last, on the monotonic clock. */
  const takenAt = new Map<string, number>();

  /** The same again after a lease that may have been given or not. */
  function holderOf(route: string): string {
    for (let number = 1; ; number += 1) {
      const holder = `${owner}.${number}`;
      if (!inUse.has(`${route} ${holder}`)) return holder;
    }
  }

  const heldOf = (route: string) => [...inUse].filter((name) => name.startsWith(`${route} `)).sort();

  /** The most binds that are to be held here: while another instance has none, a fair share. */
  async function mostOf(lane: string, binds: number): Promise<number> {
    const others = (await instances.list())
      .filter(({ id }) => id !== owner)
      .flatMap(({ carriers }) => carriers.filter((one) => one.lane === lane));
    return others.some(({ state }) => state === 'down') ? Math.ceil(binds / (others.length + 1)) : binds;
  }

  return {
    async takeBind({ lane, mode, binds }, onChange) {
      const route = `${lane}/${mode}`;
      const most = heldOf(route).length === 0 ? binds : await mostOf(lane, binds);
      const held = heldOf(route).length;
      const last = takenAt.get(route);
      if (last !== undefined && held > 0 && (held >= most || clock.monotonic() < last + spreadMs))
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
              return held.length > 1 && held.at(-1) === name && held.length > (await mostOf(lane, binds));
            },
          });
      } catch (error) {
        free();
        throw error;
      }
      free();
      return null;
    },
    takeTurns: (route, perSecond, wanted) => rateLimiter.takeTurns(route, perSecond, wanted),
    lowerRate: (route, perSecond, answeredMs) => rateLimiter.lowerRate(route, perSecond, answeredMs),
  };
}

interface BindEvents {
  onChange(): void;
  onReleased(): void;
  /** Whether it is the one that this instance has too many. */
  isToSpare(): Promise<boolean>;
}

class LeasedBind implements Bind {
  readonly #claim: BindClaim;
  readonly #parts: Omit<SharedLimitsParts, 'rateLimiter'>;
  readonly #events: BindEvents;
  /** When its lease was asked for, on the monotonic clock. */
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

  /** Tells when submissions may no longer begin, and when it is lost. */
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
      // It ends with its lease: until then what goes out is answered.
      this.isGivenBack = await this.#events.isToSpare();
      if (this.isGivenBack) return this.#events.onChange();
      const isLeased = await store.leaseBind({ ...this.#claim, leaseMs: bindLeaseMs });
      if (this.#isEnded) return;
      if (isLeased) this.#since = since;
      else this.#end();
      this.#events.onChange();
    } catch (error) {
      // The next renewal tries again, as long as the lease lasts.
      report(error, { level: 'warning' });
    }
    if (!this.#isEnded) this.#renewLater();
  }
}
