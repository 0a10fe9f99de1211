-- A receipt joins the message that its carrier's id or the end of our id names, and no other message to the number.
-- Arguments and results stay, so that the release before calls these too.

-- A carrier's report. Returns the message in doubt that it joins, which is to be finalized as sent with it.
CREATE OR REPLACE FUNCTION receive_2(p_now bigint, p_route text, p_carrier_id text, p_recipient text, p_state text,
  p_reference text, p_submitted_at bigint, p_window bigint, p_most int)
RETURNS SETOF claimed_1 LANGUAGE plpgsql :planned AS $$
DECLARE
  at bigint := time_1(p_now);
  known bigint;
  meant record;
  joined record;
  fits int := 0;
BEGIN
  :durable;
  -- In the order in which finalizations lock.
  SELECT r.message INTO known FROM receipts r
  WHERE r.route = p_route AND r.carrier_id = p_carrier_id AND r.recipient = p_recipient;
  IF known IS NOT NULL THEN PERFORM 1 FROM messages m WHERE m.seq = known FOR NO KEY UPDATE; END IF;
  INSERT INTO receipts AS r (route, carrier_id, recipient, state, received_at, reference)
  VALUES (p_route, p_carrier_id, p_recipient, p_state, at, p_reference)
  ON CONFLICT (route, carrier_id, recipient) DO UPDATE SET received_at = excluded.received_at,
    reference = excluded.reference,
    message = CASE WHEN r.submitted_at > at - :joins_within THEN r.message END,
    -- Until its message is known, an earlier one of the same id may be of another.
    state = CASE WHEN r.submitted_at > at - :joins_within
      AND r.state IN ('delivered', 'undelivered', 'bounced') THEN r.state ELSE excluded.state END
  RETURNING r.message INTO known;
  IF known IS NOT NULL THEN
    PERFORM update_delivery_2(known);
    RETURN;
  END IF;
  -- An unknown id alone may be of anybody's message to that number.
  IF p_reference = '' THEN RETURN; END IF;
  -- One that ended as unknown keeps the end of its doubt. counts_at is never after created_at.
  FOR meant IN SELECT m.seq, m.status,
      m.doubt_until IS NOT NULL AND (m.status = 'queued' OR coalesce(m.delivery = 'unknown', false)) AS is_in_doubt
    FROM messages m
    WHERE m.project = ANY (ARRAY(SELECT p.seq FROM projects p)) AND m.recipient = p_recipient
      AND m.counts_at > at - :joins_within AND m.route = p_route
      AND right(m.id, length(p_reference)) = p_reference
      AND (p_submitted_at IS NULL OR abs(m.created_at - p_submitted_at) <= :submitted_within)
    LIMIT 2
  LOOP
    fits := fits + 1;
    joined := meant;
  END LOOP;
  IF fits <> 1 THEN RETURN; END IF;
  IF NOT joined.is_in_doubt THEN RETURN; END IF;
  IF joined.status = 'queued' THEN
    RETURN QUERY SELECT * FROM read_claimed_1(ARRAY[joined.seq], at, p_window, p_most);
  ELSE
    PERFORM submitted_2(joined.seq, p_route, p_recipient, ARRAY[p_carrier_id], at);
  END IF;
END $$;
