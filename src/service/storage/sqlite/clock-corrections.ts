import type { Instant } from '../records.js';
import { clockTolerance } from './clock-tolerance.js';
import type { Database } from './database/database.js';

/**
 * When a message counts as accepted: as stored, or when it was first seen that its time lay in the future, for the
 * clock has been set back since. A correction holds for all messages up to one; see clock.ts.
 */
export const acceptedAt = (message: string, time: string) =>
  `min(${time}, coalesce((SELECT min(at) FROM clock_corrections WHERE last_message >= ${message}), ${time}))`;

export const anyCorrection = 'EXISTS (SELECT 1 FROM clock_corrections)';

/** The functions write inside the transaction of their caller. */
export function prepareClockCorrections(database: Database) {
  const insert = database.prepare(
    `INSERT INTO clock_corrections (last_message, at)
     VALUES (min(:last, (SELECT coalesce(max(seq), 0) FROM messages)), :at)
     ON CONFLICT DO UPDATE SET at = min(at, excluded.at)`,
  );
  // A correction of more messages to an earlier time says all that one of fewer to a later time does.
  const removeIdle = database.prepare(
    `DELETE FROM clock_corrections WHERE EXISTS (SELECT 1 FROM clock_corrections other
       WHERE other.last_message > clock_corrections.last_message AND other.at <= clock_corrections.at)`,
  );

  return {
    /** The time as it counts at `at`; puts down that the clock was set back, where that shows it. */
    asOf(time: Instant, at: Instant, lastMessage = Number.MAX_SAFE_INTEGER): Instant {
      if (time <= at + clockTolerance) return time;
      insert.run({ last: lastMessage, at });
      removeIdle.run();
      return at;
    },
  };
}

export type ClockCorrections = ReturnType<typeof prepareClockCorrections>;
