-- Those of some projects that have messages waiting in a lane.
CREATE FUNCTION find_waiting_1(p_lane text, p_projects text[]) RETURNS SETOF text LANGUAGE plpgsql :in_order AS $$
BEGIN
  RETURN QUERY SELECT p.id FROM projects p WHERE p.id = ANY (p_projects) AND EXISTS (
    SELECT FROM (VALUES (0), (1)) c(class) CROSS JOIN LATERAL (SELECT q.message FROM queue q
      WHERE q.lane = p_lane AND q.class = c.class AND q.project = p.seq
      ORDER BY q.project, q.batch, q.due_at LIMIT 1) w);
END $$;
