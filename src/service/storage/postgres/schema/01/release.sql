-- Holding a store, claiming what is unfinished in it, and releasing it.

CREATE FUNCTION begin_hold_1(p_reason text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  :durable;
  PERFORM set_hold_1(coalesce(hold_reason_1(), p_reason));
END $$;

-- Ends all leases: their holders cannot mark while the store is held. False where some are left for the next call.
CREATE FUNCTION end_held_leases_1(p_now bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  at bigint := time_1(p_now);
  ended leases;
BEGIN
  :durable;
  IF hold_reason_1() IS NULL THEN RETURN true; END IF;
  FOR ended IN SELECT * FROM leases ORDER BY token FOR UPDATE LOOP
    PERFORM end_lease_1(ended, at);
    EXIT WHEN is_late_1();
  END LOOP;
  RETURN NOT EXISTS (SELECT 1 FROM leases);
END $$;

CREATE FUNCTION end_all_leases_1(p_now bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT end_held_leases_1(p_now) THEN RAISE EXCEPTION 'leases are left' USING ERRCODE = '55P03'; END IF;
END $$;

CREATE FUNCTION claim_unfinished_1(p_now bigint, p_token text, p_lease_ms bigint, p_limit int, p_window bigint,
  p_most int)
RETURNS SETOF claimed_1 LANGUAGE plpgsql :planned AS $$
DECLARE
  at bigint := time_1(p_now);
  seqs bigint[];
  found_rows bigint;
BEGIN
  :durable;
  IF hold_reason_1() IS NULL THEN RETURN; END IF;
  PERFORM end_all_leases_1(p_now);
  -- Until there are some: rows of messages that have ended meanwhile may stand before them.
  WHILE seqs IS NULL LOOP
    WITH found AS MATERIALIZED (
      SELECT q.lane, q.class, q.due_at, q.message FROM queue q
      ORDER BY q.lane, q.class, q.due_at, q.message LIMIT p_limit FOR UPDATE
    ), gone AS (
      DELETE FROM queue q USING found f
      WHERE q.lane = f.lane AND q.class = f.class AND q.due_at = f.due_at AND q.message = f.message
      RETURNING q.message
    )
    SELECT array_agg(DISTINCT m.seq), count(*) INTO seqs, found_rows
    FROM gone g LEFT JOIN messages m ON m.seq = g.message AND m.status = 'queued';
    IF found_rows = 0 THEN RETURN; END IF;
    seqs := nullif(array_remove(seqs, NULL), '{}');
  END LOOP;
  INSERT INTO leases (token, until, length, messages) VALUES (p_token, at + p_lease_ms, p_lease_ms, seqs);
  RETURN QUERY SELECT * FROM read_claimed_1(seqs, at, p_window, p_most);
END $$;
