import { type LaneDepth, mostCounted } from '../insights.js';
import type { HoldReason, Unfinished } from '../records.js';
import type { Store } from '../store.js';
import type { Sql } from './sql.js';

interface DepthRow extends Omit<LaneDepth, 'oldestMs'> {
  at: number;
  /** When the first is due of each class. */
  single: number | null;
  listed: number | null;
}

const ofLane = 'FROM :queueRows q WHERE q.lane = k.lane AND q.class';
const first = (kind: number) => `(SELECT q.due_at ${ofLane} = ${kind} ORDER BY q.due_at LIMIT 1)`;
const count = (which: string) =>
  `(SELECT count(*) FROM (SELECT 1 ${ofLane} ${which} LIMIT ${mostCounted}) c)`;

/** Reads what waits. */
export function createWaiting(sql: Sql): Pick<Store, 'countUnfinished' | 'held' | 'queueDepth'> {
  return {
    async queueDepth() {
      const rows = await sql.read<DepthRow>(
        // One step for each lane, not for each message.
        `WITH RECURSIVE queued (lane) AS (
           SELECT (SELECT q.lane FROM :queueRows q ORDER BY q.lane LIMIT 1)
           UNION ALL
           SELECT (SELECT q.lane FROM :queueRows q WHERE q.lane > l.lane ORDER BY q.lane LIMIT 1)
           FROM queued l WHERE l.lane IS NOT NULL
         ), leased AS (
           SELECT m.lane COLLATE "C" AS lane, count(*) AS messages FROM :leasedMessages GROUP BY 1
         ), known (lane) AS (
           SELECT lane FROM queued WHERE lane IS NOT NULL UNION SELECT lane FROM leased
         )
         SELECT k.lane, ${count('< 2')} AS waiting, ${count('= 2')} AS doubtful,
           coalesce((SELECT l.messages FROM leased l WHERE l.lane = k.lane), 0) AS claimed,
           ${first(0)} AS single, ${first(1)} AS listed, :now AS at
         FROM known k ORDER BY k.lane`,
      );
      return rows.map(({ lane, waiting, doubtful, claimed, single, listed, at }) => {
        const due = Math.min(single ?? Number.POSITIVE_INFINITY, listed ?? Number.POSITIVE_INFINITY);
        return { lane, waiting, oldestMs: due > at ? null : at - due, claimed, doubtful };
      });
    },
    async held() {
      const [row] = await sql.read<{ reason: HoldReason | null }>('SELECT :holdReason AS reason');
      return row?.reason ?? null;
    },
    async countUnfinished() {
      const [row] = await sql.read<Unfinished>(
        `SELECT count(*) AS messages, count(*) FILTER (WHERE is_marked) AS submitting FROM (
           SELECT q.class = 2 AS is_marked FROM :queueRows q
           UNION ALL SELECT m.route IS NOT NULL FROM :leasedMessages) u`,
      );
      return row as Unfinished;
    },
  };
}
