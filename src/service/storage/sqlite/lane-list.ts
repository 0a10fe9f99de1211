import { type LaneRecord, mostCounted } from '../lanes.js';
import type { Database } from './database/open.js';

type QueuedRow = Pick<LaneRecord, 'waiting' | 'oldestAt' | 'doubtful'>;

/** All lanes, with what waits in them. The function runs inside the transaction of its caller. */
export function prepareLaneList(database: Database): () => LaneRecord[] {
  const waiting = 'FROM messages WHERE due_at IS NOT NULL AND route IS NULL AND lane = :lane';
  const doubtful = 'FROM messages WHERE due_at IS NOT NULL AND route IS NOT NULL AND lane = :lane';
  // One step a lane, not one a message.
  const next = (condition: string) => `(SELECT lane FROM messages WHERE due_at IS NOT NULL AND ${condition}
    AND (:after IS NULL OR lane > :after) ORDER BY lane LIMIT 1)`;
  const selectNext = database.prepare(
    `SELECT min(lane) AS lane FROM (SELECT * FROM ${next('route IS NULL')}
     UNION ALL SELECT * FROM ${next('route IS NOT NULL')})`,
  );
  const selectKnown = database.prepare('SELECT name FROM lanes');
  const selectPauses = database.prepare('SELECT lane, paused_at AS count FROM lane_pauses');
  const selectClaimed = database.prepare(
    `SELECT m.lane, count(*) AS count FROM leases l
     CROSS JOIN messages m ON m.seq BETWEEN l.first_message AND l.last_message AND m.lease = l.token GROUP BY m.lane`,
  );
  const first = (isBatch: 0 | 1) =>
    `(SELECT due_at ${waiting} AND (batch IS NOT NULL) = ${isBatch} ORDER BY due_at LIMIT 1)`;
  const selectLane = database.prepare(
    `SELECT (SELECT count(*) FROM (SELECT 1 ${waiting} LIMIT ${mostCounted})) AS waiting,
       (SELECT count(*) FROM (SELECT 1 ${doubtful} LIMIT ${mostCounted})) AS doubtful,
       min(coalesce(${first(0)}, ${first(1)}), coalesce(${first(1)}, ${first(0)})) AS oldestAt`,
  );

  function queued(): string[] {
    const found: string[] = [];
    for (let after: string | null = null; ; ) {
      const row = selectNext.get({ after }) as { lane: string | null };
      if (row.lane === null) return found;
      found.push(row.lane);
      after = row.lane;
    }
  }

  return () => {
    const pauses = numbersOf(selectPauses.all());
    const claimed = numbersOf(selectClaimed.all());
    const known = (selectKnown.all() as { name: string }[]).map(({ name }) => name);
    const names = new Set([...known, ...pauses.keys(), ...claimed.keys(), ...queued()]);
    return [...names].sort().map((name) => ({
      name,
      pausedAt: pauses.get(name) ?? null,
      ...(selectLane.get({ lane: name }) as unknown as QueuedRow),
      claimed: claimed.get(name) ?? 0,
    }));
  };
}

function numbersOf(rows: unknown): Map<string, number> {
  return new Map((rows as { lane: string; count: number }[]).map(({ lane, count }) => [lane, count]));
}
