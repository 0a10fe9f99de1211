import type { Clock } from '../clock.js';

/** Milliseconds of a route's rate that are taken at once at most, and how far ahead. */
export const blockMs = 100;

/** Of its rate, that a lowered one gains back in a second. */
const regainedInSecond = 0.1;

/** Turns to send, one behind the other at the spacing of the rate. */
export interface Turns {
  granted: number;
  /** Milliseconds until the first one; where none is granted, until it is worth asking again. */
  waitMs: number;
  /** The share of the rate that there is now: 1 unless a carrier throttles. */
  factor: number;
}

/** A rate that was lowered to a share of itself at some time. */
export interface Lowered {
  factor: number;
  at: number;
}

/** The share of its rate that is left: it grows back. */
export function factorAt(lowered: Lowered | null, now: number): number {
  if (lowered === null) return 1;
  return Math.min(1, lowered.factor + (Math.max(0, now - lowered.at) / 1_000) * regainedInSecond);
}

/**
 * Halves a rate, never to less than one a second; once in the time that an answer takes (`answeredMs`), for what was
 * submitted before the last halving says nothing of the rate since.
 */
export function lower(lowered: Lowered | null, perSecond: number, answeredMs: number, now: number): Lowered {
  const isFresh = lowered !== null && lowered.at <= now && lowered.at > now - answeredMs;
  if (isFresh) return lowered;
  return { factor: Math.max(factorAt(lowered, now) / 2, Math.min(1, 1 / perSecond)), at: now };
}

/** What is remembered of a route's rate: the time of its next turn, and by how much it was lowered. */
export interface RouteRate {
  nextAt: number | null;
  lowered: Lowered | null;
}

/**
 * Takes up to `wanted` turns of a rate, at most a block. Turns that nobody took are gone: no second ever has more than
 * the rate.
 */
export function takeTurns(
  { nextAt, lowered }: RouteRate,
  perSecond: number,
  wanted: number,
  now: number,
): Turns & { nextAt: number } {
  const factor = factorAt(lowered, now);
  const each = 1_000 / (perSecond * factor);
  const block = Math.max(1, Math.floor(blockMs / each));
  // Further ahead than it can be: the clock was set back.
  const farthest = now + blockMs + Math.max(blockMs, each);
  const from = Math.min(Math.max(nextAt ?? now, now), farthest);
  if (from > now + blockMs) return { granted: 0, waitMs: from - now - blockMs, factor, nextAt: from };
  const granted = Math.min(wanted, block);
  return { granted, waitMs: from - now, factor, nextAt: from + granted * each };
}

/** The rates of routes, for all processes that share them. */
export interface RouteRates {
  /** Takes turns of a carrier's route. */
  takeTurns(route: string, perSecond: number, wanted: number): Promise<Turns>;
  /** As `lower`: the share of the rate that is left. */
  lowerRate(route: string, perSecond: number, answeredMs: number): Promise<number>;
}

/** Of one process alone, on its monotonic clock. */
export function ownRouteRates(clock: Pick<Clock, 'monotonic'>): RouteRates {
  const known = new Map<string, RouteRate>();
  const rateOf = (route: string) => known.get(route) ?? { nextAt: null, lowered: null };
  return {
    async takeTurns(route, perSecond, wanted) {
      const rate = rateOf(route);
      const { nextAt, ...turns } = takeTurns(rate, perSecond, wanted, clock.monotonic());
      known.set(route, { ...rate, nextAt });
      return turns;
    },
    async lowerRate(route, perSecond, answeredMs) {
      const rate = rateOf(route);
      const lowered = lower(rate.lowered, perSecond, answeredMs, clock.monotonic());
      known.set(route, { ...rate, lowered });
      return factorAt(lowered, clock.monotonic());
    },
  };
}

/** One of the connections that a carrier allows over a route. All times are in milliseconds. */
export interface BindClaim {
  route: string;
  /** As many as there may be, over all processes. */
  binds: number;
  /** Unique to this connection. */
  holder: string;
}

/** The binds of routes, over all processes. */
export interface RouteBinds {
  /**
   * Leases a bind, or lengthens the lease that the holder has, also one that is over and that nobody else has taken.
   * False while all are taken. A bind of others is taken once its lease is over, by an engine that was itself connected
   * for as long as that lasts, or when it knows that their process is gone.
   */
  leaseBind(claim: BindClaim & { leaseMs: number }): Promise<boolean>;
  releaseBind(claim: Pick<BindClaim, 'route' | 'holder'>): Promise<void>;
}
