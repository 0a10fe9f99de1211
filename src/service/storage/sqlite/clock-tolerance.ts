/**
 * How far ahead of now a stored time can be while nobody has set the clock (milliseconds). What is further ahead
 * was stored before the clock was set back, and counts as now: see clock.ts.
 */

/** Of leases, over their length: a renewal may wait 10 s for its turn. */
export const leaseTolerance = 10_000;

/** Of messages that were never tried, and of doubts: they are due at once or within a minute. */
export const firstDelay = 75_000;

/** Of messages that are tried again, at most hourly. */
export const longestDelay = 3_675_000;

/** In SQL, of a message that waits: nobody waits for the next try longer than for the message. */
export const farthestDue = `CASE tries WHEN 0 THEN ${firstDelay}
  ELSE min(${longestDelay}, coalesce(bound_at - created_at + ${firstDelay}, ${longestDelay})) END`;

/** Of the times of acceptance: a write that waited is stored behind others with a later time. */
export const clockTolerance = 15_000;
