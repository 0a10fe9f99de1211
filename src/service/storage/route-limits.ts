/** Milliseconds of a route's rate that are taken at once at most, and how far ahead. */
export const blockMs = 100;

/** Turns to send, one behind the other at the spacing of the rate. */
export interface Turns {
  granted: number;
  /** Milliseconds until the first one; where none is granted, until it is worth asking again. */
  waitMs: number;
}

/**
 * Takes up to `wanted` turns of a rate, at most a block. A rate is remembered as the time of its next turn. Turns that
 * nobody took are gone: no second ever has more than the rate.
 */
export function takeTurns(
  nextAt: number | null,
  perSecond: number,
  wanted: number,
  now: number,
): Turns & { nextAt: number } {
  const each = 1_000 / perSecond;
  const block = Math.max(1, Math.floor(blockMs / each));
  // Further ahead than it can be: the clock was set back.
  const farthest = now + blockMs + Math.max(blockMs, each);
  const from = Math.min(Math.max(nextAt ?? now, now), farthest);
  if (from > now + blockMs) return { granted: 0, waitMs: from - now - blockMs, nextAt: from };
  const granted = Math.min(wanted, block);
  return { granted, waitMs: from - now, nextAt: from + granted * each };
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
