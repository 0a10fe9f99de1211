import type { ClaimedMessage, Mark, MarkedRepeat } from '../dispatching.js';
import type { Instant } from '../records.js';
import { clockTolerance } from '../shared/clock-tolerance.js';
import type { Database } from './database/database.js';
import { isMarked } from './dispatch/claims.js';
import type { Quiet } from './dispatch/quiet.js';
import { isInOpenLane } from './dispatch/stop-batch.js';

/**
 * Requests that may be repeated, one for each message until it is finished. The functions run inside their caller's
 * transaction.
 */
export function prepareRequests(database: Database, quiet: Quiet, now: () => Instant) {
  const selectAny = database.prepare('SELECT 1 FROM requests LIMIT 1');
  // The carrier may have known the key since the first attempt.
  const upsert = database.prepare(
    `INSERT INTO requests (message, attempt, first_at, sealed) VALUES (:seq, :attempt, :now, :sealed)
     ON CONFLICT DO UPDATE SET attempt = :attempt, first_at = min(first_at, :now), sealed = :sealed`,
  );
  const mark = database.prepare(
    `UPDATE messages SET attempts = attempts + 1
     WHERE ${isMarked} AND lease = :token AND doubt_until IS NOT NULL AND ${isInOpenLane}
       AND EXISTS (SELECT 1 FROM requests r WHERE r.message = seq AND r.attempt = attempts
         AND :now - r.first_at BETWEEN -${clockTolerance} AND :within)`,
  );
  const follow = database.prepare(
    'UPDATE requests SET attempt = attempt + 1 WHERE message = ? RETURNING sealed',
  );
  const remove = database.prepare('DELETE FROM requests WHERE message = ?');

  return {
    keep({ claimed: { seq }, attempt, request }: Mark): void {
      if (request) upsert.run({ seq, attempt, now: now(), sealed: request });
    },
    markRepeating(claimed: ClaimedMessage, withinMs: number): MarkedRepeat | null {
      const { seq, message, token, attempts, mark: before } = claimed;
      const given = { seq, id: message.id, token, attempt: attempts, now: now(), within: withinMs };
      if (before === null || quiet.isHeld(claimed) || mark.run(given).changes === 0) return null;
      const { sealed } = follow.get(seq) as { sealed: Uint8Array };
      const attempt = attempts + 1;
      return { claimed: { ...claimed, attempts: attempt, mark: { ...before, attempt } }, request: sealed };
    },
    isAny: () => selectAny.get() !== undefined,
    /** Deletes that of a finished message. */
    forget: (message: number) => void remove.run(message),
  };
}

export type Requests = ReturnType<typeof prepareRequests>;
