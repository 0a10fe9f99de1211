-- The queue of each lane.

CREATE FUNCTION depth_1(p_now bigint)
RETURNS TABLE (lane text, waiting bigint, oldest_ms bigint, claimed bigint, doubtful bigint)
LANGUAGE plpgsql :planned AS $$
#variable_conflict use_column
DECLARE
  at bigint := time_1(p_now);
BEGIN
  RETURN QUERY WITH RECURSIVE queued AS (
    (SELECT q.lane FROM queue q ORDER BY q.lane LIMIT 1)
    UNION ALL
    -- One step a lane, not one a message.
    SELECT (SELECT q.lane FROM queue q WHERE q.lane > l.lane ORDER BY q.lane LIMIT 1) FROM queued l WHERE l.lane IS NOT NULL
  ), taken AS (
    SELECT m.lane, count(*) AS messages FROM leases l CROSS JOIN LATERAL unnest(l.messages) AS s(seq)
      JOIN messages m ON m.seq = s.seq AND m.status = 'queued' GROUP BY m.lane
  ), known AS (
    SELECT l.lane FROM queued l WHERE l.lane IS NOT NULL UNION SELECT t.lane COLLATE "C" FROM taken t
  )
  SELECT k.lane,
    (SELECT count(*) FROM (SELECT 1 FROM queue q WHERE q.lane = k.lane AND q.class < 2 LIMIT :most_counted) c),
    CASE WHEN f.due_at <= at THEN at - f.due_at END, coalesce(t.messages, 0),
    (SELECT count(*) FROM (SELECT 1 FROM queue q WHERE q.lane = k.lane AND q.class = 2 LIMIT :most_counted) c)
  FROM known k LEFT JOIN taken t ON t.lane = k.lane
    LEFT JOIN LATERAL (SELECT min(c.due_at) AS due_at FROM (
      (SELECT q.due_at FROM queue q WHERE q.lane = k.lane AND q.class = 0 ORDER BY q.due_at LIMIT 1)
      UNION ALL (SELECT q.due_at FROM queue q WHERE q.lane = k.lane AND q.class = 1 ORDER BY q.due_at LIMIT 1)) c) f
      ON true
  ORDER BY k.lane;
END $$;
