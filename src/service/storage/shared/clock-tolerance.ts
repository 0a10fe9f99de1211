/**
 * How far ahead of now a stored time can be while nobody has set the clock (milliseconds). What is further ahead
 * was stored before the clock was set back, and counts as now: see clock.ts.
 */

/** For leases, added to their length: a renewal may wait 10 s behind other writes. */
export const leaseTolerance = 10_000;

/** For untried messages and for doubts, which are due at once or within a minute. */
export const firstDelay = 75_000;

/** For messages that are retried, after an hour at most. */
export const longestDelay = 3_675_000;

/** SQL, for a waiting message: the next attempt is never further away than the end of the message. */
export const farthestDue = `CASE tries WHEN 0 THEN ${firstDelay}
  ELSE min(${longestDelay}, coalesce(bound_at - created_at + ${firstDelay}, ${longestDelay})) END`;

/** For times of acceptance: a write that had to wait is stored after others with a later time. */
export const clockTolerance = 15_000;
