-- Marks, with their time: a receipt that came before one is of an older message.

-- Null for a message that was marked as it was accepted.
ALTER TABLE messages ADD COLUMN marked_at bigint;
-- The end of the message's id, as the receipt gives it back.
ALTER TABLE receipts ADD COLUMN reference text;

CREATE FUNCTION mark_2(p_now bigint, p_items json) RETURNS SETOF bigint LANGUAGE plpgsql :planned AS $$
DECLARE
  items held_1[];
  leased bigint[];
  at bigint;
BEGIN
  :durable;
  IF hold_reason_1() IS NOT NULL THEN RETURN; END IF;
  SELECT array_agg(i) INTO items FROM json_populate_recordset(NULL::held_1, p_items) i;
  PERFORM 1 FROM leases l WHERE l.token IN (SELECT i.token FROM unnest(items) i) ORDER BY l.token FOR NO KEY UPDATE;
  PERFORM 1 FROM messages m WHERE m.seq IN (SELECT i.seq FROM unnest(items) i) ORDER BY m.seq FOR NO KEY UPDATE;
  leased := leased_1(items);
  at := time_1(p_now);
  RETURN QUERY UPDATE messages m SET route = i.route, attempts = i.attempt, doubt_ms = i.doubt_ms, marked_at = at
    FROM rows_1(items) i WHERE m.seq = i.seq AND m.seq = ANY (leased) AND m.id || '' = i.id
      AND m.status = 'queued' AND m.attempts < i.attempt
      AND m.lane NOT IN (SELECT p.lane FROM lane_pauses p)
    RETURNING m.seq;
END $$;
