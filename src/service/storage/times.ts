/**
 * How far ahead of now a stored time can be while nobody has set the clock (milliseconds). What is further ahead
 * was stored before the clock was set back, and counts as now: see clock.ts.
 */

/** Leases last 5 s, and a write may wait 10 s for its turn with the time it was given before. */
export const longestLease = 15_000;

/** A message is postponed by a minute at most; the rest as above. */
export const longestDelay = 75_000;

/** Of when messages were accepted: a write that waited is stored behind others with a later time. */
export const clockTolerance = 15_000;
