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

/** A slot of a day: a mail counts until a day after the end of the one in which it began. */
const slotMs = 900_000;
export const dayMs = 86_400_000;

/** How many messages of a route began in each slot, by its end; and when more waited than its carrier takes in a day. */
export interface RouteDay {
  slots: readonly (readonly [end: number, count: number])[];
  reachedAt: number | null;
}

/** Messages of a route that may begin. All times are in milliseconds. */
export interface DayPermits {
  granted: number;
  /** The slot in which they count, to give them back. */
  slot: number;
  /** Those of the last 24 hours, with these. */
  used: number;
  /** Until some no longer count; null if there are none. */
  nextMs: number | null;
  /** Since more waited, 0 if they do; null if none did in the last 24 hours. */
  reachedMs: number | null;
}

/** What is asked of a day: messages to begin, or fewer than 0 to give back those of a `slot`. */
export interface DayWanted {
  route: string;
  /** The most in 24 hours. */
  most: number;
  wanted: number;
  slot?: number;
}

/** No 24 hours have more than `most`: what was not used counts all the same, unless it is given back. */
export function takeOfDay(
  day: RouteDay,
  { most, wanted, slot: given }: DayWanted,
  now: number,
): DayPermits & { day: RouteDay } {
  const slot = (Math.floor(now / slotMs) + 1) * slotMs;
  const counts = new Map<number, number>();
  // A slot of the future was counted before the clock was set back.
  const add = (end: number, count: number) =>
    counts.set(Math.min(end, slot), Math.max(0, (counts.get(Math.min(end, slot)) ?? 0) + count));
  for (const [end, count] of day.slots) if (end > now - dayMs) add(end, count);
  const sum = () => [...counts.values()].reduce((all, count) => all + count, 0);
  const granted = Math.max(0, Math.min(wanted, most - sum()));
  if (wanted < 0) {
    if (counts.has(Math.min(given ?? slot, slot))) add(given ?? slot, wanted);
  } else if (granted > 0) add(slot, granted);
  const slots = [...counts].filter(([, count]) => count > 0).sort(([one], [other]) => one - other);
  const used = sum();
  const before = day.reachedAt === null ? null : Math.min(day.reachedAt, now);
  // The last one of a day has not waited for it.
  const isReached = wanted === 0 ? used >= most : granted < wanted;
  const reachedAt = isReached ? now : before;
  const isRecent = reachedAt !== null && reachedAt > now - dayMs;
  return {
    granted,
    slot,
    used,
    nextMs: slots[0] === undefined ? null : slots[0][0] + dayMs - now,
    reachedMs: isRecent ? now - reachedAt : null,
    day: { slots, reachedAt: isRecent ? reachedAt : null },
  };
}

/** The days of routes, counted durably for all processes. */
export interface RouteDays {
  takeOfDay(wanted: DayWanted): Promise<DayPermits>;
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
