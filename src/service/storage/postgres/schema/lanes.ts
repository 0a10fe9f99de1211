import { mostCounted } from '../../lanes.js';
import { planned } from './shared.js';

/** All lanes, with what waits in them. */
export const laneFunctions = `
CREATE FUNCTION list_lanes_1()
RETURNS TABLE (name text, paused_at bigint, waiting bigint, oldest_at bigint, claimed bigint, doubtful bigint)
LANGUAGE plpgsql ${planned} AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY WITH RECURSIVE queued AS (
    (SELECT q.lane FROM queue q ORDER BY q.lane LIMIT 1)
    UNION ALL
    -- One step a lane, not one a message.
    SELECT (SELECT q.lane FROM queue q WHERE q.lane > l.lane ORDER BY q.lane LIMIT 1) FROM queued l WHERE l.lane IS NOT NULL
  ), taken AS (
    SELECT m.lane COLLATE "C" AS lane, count(*) AS messages FROM leases l CROSS JOIN LATERAL unnest(l.messages) AS s(seq)
      JOIN messages m ON m.seq = s.seq AND m.status = 'queued' GROUP BY m.lane
  ), known AS (
    SELECT l.name FROM lanes l UNION SELECT p.lane FROM lane_pauses p UNION SELECT t.lane FROM taken t
    UNION SELECT l.lane FROM queued l WHERE l.lane IS NOT NULL
  )
  SELECT k.name, p.paused_at,
    (SELECT count(*) FROM (SELECT 1 FROM queue q WHERE q.lane = k.name AND q.class < 2 LIMIT ${mostCounted}) c),
    f.due_at, coalesce(t.messages, 0),
    (SELECT count(*) FROM (SELECT 1 FROM queue q WHERE q.lane = k.name AND q.class = 2 LIMIT ${mostCounted}) c)
  FROM known k LEFT JOIN taken t ON t.lane = k.name LEFT JOIN lane_pauses p ON p.lane = k.name
    LEFT JOIN LATERAL (SELECT min(c.due_at) AS due_at FROM (
      (SELECT q.due_at FROM queue q WHERE q.lane = k.name AND q.class = 0 ORDER BY q.due_at LIMIT 1)
      UNION ALL (SELECT q.due_at FROM queue q WHERE q.lane = k.name AND q.class = 1 ORDER BY q.due_at LIMIT 1)) c) f
      ON true
  ORDER BY k.name;
END $$;
`;
