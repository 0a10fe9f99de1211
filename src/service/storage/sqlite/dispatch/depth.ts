import { type LaneDepth, mostCounted } from '../../insights.js';
import type { Instant } from '../../records.js';
import type { Database } from '../database/database.js';
import { leasedMessages } from './leases.js';
import { isOfList } from './quiet.js';

/** The waiting messages of each lane. */
export function prepareDepth(database: Database, now: () => Instant) {
  const waiting = 'FROM messages WHERE due_at IS NOT NULL AND route IS NULL AND lane = :lane';
  const doubtful = 'FROM messages WHERE due_at IS NOT NULL AND route IS NOT NULL AND lane = :lane';
  // One step for each lane, not for each message.
  const next = (condition: string) => `(SELECT lane FROM messages WHERE due_at IS NOT NULL AND ${condition}
    AND (:after IS NULL OR lane > :after) ORDER BY lane LIMIT 1)`;
  const selectNext = database.prepare(
    `SELECT min(lane) AS lane FROM (SELECT * FROM ${next('route IS NULL')}
     UNION ALL SELECT * FROM ${next('route IS NOT NULL')})`,
  );
  const selectClaimed = database.prepare(
    `SELECT m.lane, count(*) AS claimed FROM ${leasedMessages} GROUP BY m.lane`,
  );
  const first = (isBatch: 0 | 1) =>
    `(SELECT due_at ${waiting} AND ${isOfList} = ${isBatch} ORDER BY due_at LIMIT 1)`;
  const selectLane = database.prepare(
    `SELECT (SELECT count(*) FROM (SELECT 1 ${waiting} LIMIT ${mostCounted})) AS waiting,
       (SELECT count(*) FROM (SELECT 1 ${doubtful} LIMIT ${mostCounted})) AS doubtful,
       min(coalesce(${first(0)}, ${first(1)}), coalesce(${first(1)}, ${first(0)})) AS first`,
  );

  function lanes(): string[] {
    const found: string[] = [];
    for (let after: string | null = null; ; ) {
      const row = selectNext.get({ after }) as { lane: string | null };
      if (row.lane === null) return found;
      found.push(row.lane);
      after = row.lane;
    }
  }

  return (): LaneDepth[] => {
    const rows = selectClaimed.all() as { lane: string; claimed: number }[];
    const claimed = new Map(rows.map((row) => [row.lane, row.claimed]));
    const at = now();
    return [...new Set([...lanes(), ...claimed.keys()])].sort().map((lane) => {
      const row = selectLane.get({ lane }) as { waiting: number; doubtful: number; first: number | null };
      return {
        lane,
        waiting: row.waiting,
        oldestMs: row.first === null || row.first > at ? null : at - row.first,
        claimed: claimed.get(lane) ?? 0,
        doubtful: row.doubtful,
      };
    });
  };
}
