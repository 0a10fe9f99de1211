import type { Clock } from '../clock.js';

/** The most milliseconds of a route's rate that are taken at once, and how far ahead. */
export const blockMs = 100;

/** The share of its full rate that a lowered one regains in a second. */
const regainedInSecond = 0.1;

/** Permits to send, one after another at the interval of the rate. */
export interface Permits {
  granted: number;
  /** Milliseconds until the first permit; if none is granted, until the next attempt makes sense. */
  waitMs: number;
  /** The current share of the rate: 1 unless a carrier throttles. */
  factor: number;
}

/** A rate that was lowered to a share, and when. */
export interface Lowered {
  factor: number;
  at: number;
}

/** The current share of the rate, which grows back. */
export function factorAt(lowered: Lowered | null, now: number): number {
  if (lowered === null) return 1;
  return Math.min(1, lowered.factor + (Math.max(0, now - lowered.at) / 1_000) * regainedInSecond);
}

/**
 * Halves a rate, but never below one a second, and at most once in the time that an answer takes (`answeredMs`):
 * answers to messages submitted before the last halving say nothing about the new rate.
 */
export function lower(lowered: Lowered | null, perSecond: number, answeredMs: number, now: number): Lowered {
  const isFresh = lowered !== null && lowered.at <= now && lowered.at > now - answeredMs;
  if (isFresh) return lowered;
  return { factor: Math.max(factorAt(lowered, now) / 2, Math.min(1, 1 / perSecond)), at: now };
}

/** The stored state of a route's rate: the time of its next permit, and how far it was lowered. */
export interface RouteRate {
  nextAt: number | null;
  lowered: Lowered | null;
}

/**
 * Takes up to `wanted` permits of a rate, at most a block. Unused permits expire: no second ever has more than the rate.
 */
export function takePermits(
  { nextAt, lowered }: RouteRate,
  perSecond: number,
  wanted: number,
  now: number,
): Permits & { nextAt: number } {
  const factor = factorAt(lowered, now);
  const each = 1_000 / (perSecond * factor);
  const block = Math.max(1, Math.floor(blockMs / each));
  // Further ahead than possible: the clock was set back.
  const farthest = now + blockMs + Math.max(blockMs, each);
  const from = Math.min(Math.max(nextAt ?? now, now), farthest);
  if (from > now + blockMs) return { granted: 0, waitMs: from - now - blockMs, factor, nextAt: from };
  const granted = Math.min(wanted, block);
  return { granted, waitMs: from - now, factor, nextAt: from + granted * each };
}

/** The rates of routes, shared by all processes. */
export interface RouteRates {
  /** Takes permits to send over a carrier's route. */
  takePermits(route: string, perSecond: number, wanted: number): Promise<Permits>;
  /** Like `lower`; returns the remaining share of the rate. */
  lowerRate(route: string, perSecond: number, answeredMs: number): Promise<number>;
}

/** For one process alone, on its monotonic clock. */
export function ownRouteRates(clock: Pick<Clock, 'monotonic'>): RouteRates {
  const known = new Map<string, RouteRate>();
  const rateOf = (route: string) => known.get(route) ?? { nextAt: null, lowered: null };
  return {
    async takePermits(route, perSecond, wanted) {
      const rate = rateOf(route);
      const { nextAt, ...permits } = takePermits(rate, perSecond, wanted, clock.monotonic());
      known.set(route, { ...rate, nextAt });
      return permits;
    },
    async lowerRate(route, perSecond, answeredMs) {
      const rate = rateOf(route);
      const lowered = lower(rate.lowered, perSecond, answeredMs, clock.monotonic());
      known.set(route, { ...rate, lowered });
      return factorAt(lowered, clock.monotonic());
    },
  };
}

/** A connection that a carrier allows for a route. All times are in milliseconds. */
export interface BindClaim {
  route: string;
  /** The most there may be, over all processes. */
  binds: number;
  /** Unique to this connection. */
  holder: string;
}

/** The binds of routes, shared by all processes. */
export interface RouteBinds {
  /**
   * Leases a bind, or extends the holder's lease, even an expired one that nobody else has taken. False while all are
   * taken. Another process's bind is taken once its lease has expired, if this engine was connected for that long, or
   * once its process is known to have ended.
   */
  leaseBind(claim: BindClaim & { leaseMs: number }): Promise<boolean>;
  releaseBind(claim: Pick<BindClaim, 'route' | 'holder'>): Promise<void>;
}
