import type { Instant } from '../records.js';
import { clockTolerance } from '../shared/clock-tolerance.js';
import type { Database } from './database/database.js';

/**
 * When a message counts as accepted: as stored, or if that is in the future because the clock was set back since,
 * when this was first noticed. A correction applies to all messages up to one; see clock.ts.
 */
export const acceptedAt = (message: string, time: string) =>
  `min(${time}, coalesce((SELECT min(at) FROM clock_corrections WHERE last_message >= ${message}), ${time}))`;

export const anyCorrection = 'EXISTS (SELECT 1 FROM clock_corrections)';

/** The functions write inside their caller's transaction. */
export function prepareClockCorrections(database: Database) {
  const insert = database.prepare(
    `INSERT INTO clock_corrections (last_message, at)
     VALUES (min(:last, (SELECT coalesce(max(seq), 0) FROM messages)), :at)
     ON CONFLICT DO UPDATE SET at = min(at, excluded.at)`,
  );
  // A correction of more messages to an earlier time includes one of fewer messages to a later time.
  const removeIdle = database.prepare(
    `DELETE FROM clock_corrections WHERE EXISTS (SELECT 1 FROM clock_corrections other
       WHERE other.last_message > clock_corrections.last_message AND other.at <= clock_corrections.at)`,
  );

  return {
    /** A stored time as it counts at `at`; if it shows that the clock was set back, that is recorded. */
    asOf(time: Instant, at: Instant, lastMessage = Number.MAX_SAFE_INTEGER): Instant {
      if (time <= at + clockTolerance) return time;
      insert.run({ last: lastMessage, at });
      removeIdle.run();
      return at;
    },
  };
}

export type ClockCorrections = ReturnType<typeof prepareClockCorrections>;
