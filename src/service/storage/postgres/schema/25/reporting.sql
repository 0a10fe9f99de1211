-- Their arguments and results stay, so that the release before calls these.

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
  was text;
BEGIN
  :durable;
  -- In the order in which finalizations lock.
  SELECT r.message INTO known FROM receipts r
  WHERE r.route = p_route AND r.carrier_id = p_carrier_id AND r.recipient = p_recipient;
  IF known IS NOT NULL THEN SELECT m.delivery INTO was FROM messages m WHERE m.seq = known FOR NO KEY UPDATE; END IF;
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
    PERFORM report_delivery_1(known, was, at);
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
    PERFORM report_delivery_1(joined.seq, 'unknown', at);
  END IF;
END $$;

CREATE OR REPLACE FUNCTION finalize_2(p_now bigint, p_items json)
RETURNS TABLE (seq bigint, at bigint, balance bigint, delivery text) LANGUAGE plpgsql :planned AS $$
#variable_conflict use_column
DECLARE
  items finalization_1[];
  one finalization_1;
  seqs bigint[];
  ended_in bigint[];
  tokens text[];
  ended bigint;
BEGIN
  :durable;
  SELECT array_agg(i) INTO items FROM json_populate_recordset(NULL::finalization_1, p_items) i;
  PERFORM 1 FROM projects p WHERE p.id IN (SELECT i.project FROM unnest(items) i WHERE i.status = 'failed')
    ORDER BY p.seq FOR NO KEY UPDATE;
  tokens := lock_leases_1(ARRAY(SELECT i.token FROM unnest(items) i), ARRAY(SELECT i.seq FROM unnest(items) i));
  seqs := ARRAY(SELECT standing_1(ARRAY(
    SELECT (i.seq, i.id, i.token, i.attempt, NULL, NULL, NULL, NULL, NULL)::held_1 FROM unnest(items) i)));
  IF hold_reason_1() IS NOT NULL THEN
    -- A failover may have lost the mark. Nobody can mark now, so it was this attempt.
    seqs := seqs || ARRAY(SELECT m.seq FROM unnest(items) i
      CROSS JOIN LATERAL (SELECT * FROM messages m WHERE m.seq = i.seq OFFSET 0) m
      WHERE m.id = i.id AND m.status = 'queued' AND m.route IS NULL AND m.attempts < i.attempt);
  END IF;
  IF seqs = '{}' THEN RETURN; END IF;
  ended := time_1(p_now);
  tokens := tokens || unqueue_doubts_1(seqs);
  UPDATE messages m SET
    status = i.status,
    sent_at = CASE WHEN i.status = 'sent' THEN ended END,
    error_code = i.error_code,
    error_message = i.error_message,
    credits = CASE WHEN i.status = 'failed' THEN 0 ELSE m.credits END,
    refunded = i.status = 'failed',
    delivery = i.delivery,
    route = coalesce(m.route, i.route),
    -- One that ended as unknown keeps the end of its doubt, so that a receipt still finds it.
    doubt_until = CASE WHEN i.delivery = 'unknown' THEN m.doubt_until END,
    pending_key = NULL
  FROM rows_1(items) i WHERE m.seq = i.seq AND m.seq = ANY (seqs);
  PERFORM leave_1(tokens, seqs);

  ended_in := ARRAY(SELECT DISTINCT m.batch FROM messages m WHERE m.seq = ANY (seqs) AND m.batch IS NOT NULL);
  PERFORM 1 FROM batches b WHERE b.seq = ANY (ended_in) ORDER BY b.seq FOR NO KEY UPDATE;
  UPDATE batches b SET sent = b.sent + c.sent, failed = b.failed + c.failed,
    completed_at = CASE WHEN b.sent + c.sent + b.failed + c.failed = b.total THEN ended END
  FROM (SELECT m.batch, count(*) FILTER (WHERE m.status = 'sent') AS sent,
      count(*) FILTER (WHERE m.status = 'failed') AS failed
    FROM messages m WHERE m.seq = ANY (seqs) AND m.batch IS NOT NULL GROUP BY m.batch) c
  WHERE b.seq = c.batch AND b.seq = ANY (ended_in);

  IF EXISTS (SELECT 1 FROM unnest(items) i WHERE i.status = 'failed') THEN
    INSERT INTO ledger (project, amount, reason, subject_id, created_at)
    SELECT p.seq, i.credits, 'refund', i.id, ended FROM unnest(items) i JOIN projects p ON p.id = i.project
    WHERE i.status = 'failed' AND i.credits <> 0 AND i.seq = ANY (seqs);
    UPDATE projects p SET balance = p.balance + r.credits FROM (
      SELECT i.project, sum(i.credits)::bigint AS credits FROM unnest(items) i
      WHERE i.status = 'failed' AND i.seq = ANY (seqs) GROUP BY i.project) r
    WHERE p.id = r.project AND r.credits <> 0;
    UPDATE verifications v SET status = 'failed' FROM rows_1(items) i
    WHERE i.status = 'failed' AND i.seq = ANY (seqs) AND v.message = i.seq
      AND v.message = ANY (seqs) AND v.status = 'pending';
  END IF;
  IF EXISTS (SELECT 1 FROM unnest(items) i WHERE i.is_encrypted) THEN
    UPDATE contents c SET encrypted = NULL WHERE c.seq = ANY (ARRAY(SELECT m.content FROM messages m
      WHERE m.seq = ANY (ARRAY(SELECT i.seq FROM unnest(items) i WHERE i.is_encrypted AND i.seq = ANY (seqs)))));
  END IF;
  IF EXISTS (SELECT 1 FROM unnest(items) i WHERE i.delivery = 'unknown') THEN
    INSERT INTO unknown_deliveries (batch, message)
    SELECT m.batch, m.seq FROM messages m
    WHERE m.seq = ANY (ARRAY(SELECT i.seq FROM unnest(items) i WHERE i.delivery = 'unknown' AND i.seq = ANY (seqs)))
      AND m.batch IS NOT NULL;
  END IF;
  IF EXISTS (SELECT 1 FROM unnest(items) i WHERE cardinality(i.carrier_ids) > 0) THEN
    FOR one IN SELECT * FROM unnest(items) i
      WHERE i.seq = ANY (seqs) AND cardinality(i.carrier_ids) > 0 ORDER BY i.seq
    LOOP
      PERFORM submitted_2(one.seq, one.route, one.recipient, one.carrier_ids, ended);
    END LOOP;
  END IF;
  IF EXISTS (SELECT 1 FROM projects p WHERE p.line IS NOT NULL) THEN
    PERFORM report_ended_1(seqs, ended_in, ended);
  END IF;
  -- One statement: the balance that is answered is the one that is bound.
  RETURN QUERY WITH ending AS MATERIALIZED (
    SELECT i.*, p.seq AS project_seq, p.balance
    FROM unnest(items) i CROSS JOIN LATERAL (SELECT * FROM projects p WHERE p.id = i.project OFFSET 0) p
    WHERE coalesce(i.seq IN (SELECT unnest(seqs)), false)
  ), bound AS (
    UPDATE idempotency k SET status = e.key_status, body = body_1(e.head, e.tail, ended, e.has_balance, e.balance)
    FROM ending e WHERE e.key IS NOT NULL AND k.project = e.project_seq AND k.key = e.key
  )
  SELECT e.seq, ended, e.balance, m.delivery
  FROM ending e CROSS JOIN LATERAL (SELECT * FROM messages m WHERE m.seq = e.seq OFFSET 0) m;
END $$;

CREATE OR REPLACE FUNCTION stop_batch_2(p_now bigint, p_id text, p_code text, p_message text)
RETURNS TABLE (channel text, total int, sent int, failed int, stopped int, refunded bigint, lanes json) LANGUAGE plpgsql :planned AS $$
#variable_conflict use_column
DECLARE
  stopping batches;
  seqs bigint[];
  tokens text[];
  at bigint;
  credits_back bigint;
BEGIN
  :durable;
  SELECT b.* INTO stopping FROM batches b WHERE b.id = p_id;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM 1 FROM projects p WHERE p.seq = stopping.project FOR NO KEY UPDATE;
  seqs := ARRAY(SELECT m.seq FROM messages m WHERE m.batch = stopping.seq AND m.status = 'queued');
  -- Before it locks a message: a claim that it waits for may be marking at once, with its lease locked.
  tokens := lock_leases_1(unqueue_batch_1(seqs), seqs);
  seqs := ARRAY(SELECT m.seq FROM messages m WHERE m.seq = ANY (seqs) AND m.status = 'queued' AND m.route IS NULL);
  at := time_1(p_now);
  -- What was put back meanwhile, and may have been claimed again.
  tokens := tokens || lock_leases_1(unqueue_batch_1(seqs), '{}');
  SELECT coalesce(sum(m.credits), 0)::bigint INTO credits_back FROM messages m WHERE m.seq = ANY (seqs);
  INSERT INTO ledger (project, amount, reason, subject_id, created_at)
  SELECT m.project, m.credits, 'refund', m.id, at FROM messages m
  WHERE m.seq = ANY (seqs) AND m.credits <> 0 ORDER BY m.seq;
  UPDATE messages m SET status = 'failed', error_code = p_code, error_message = p_message, credits = 0,
    refunded = true
  WHERE m.seq = ANY (seqs);
  PERFORM leave_1(tokens, seqs);
  UPDATE projects p SET balance = p.balance + credits_back WHERE p.seq = stopping.project AND credits_back <> 0;
  RETURN QUERY UPDATE batches b SET stopped_at = coalesce(b.stopped_at, at), failed = b.failed + cardinality(seqs),
      completed_at = CASE WHEN b.sent + b.failed + cardinality(seqs) = b.total THEN coalesce(b.completed_at, at) END
    WHERE b.seq = stopping.seq
    RETURNING b.channel, b.total, b.sent, b.failed, cardinality(seqs), credits_back, (
      SELECT json_agg(c) FROM (SELECT m.lane, count(*) FROM messages m WHERE m.seq = ANY (seqs) GROUP BY m.lane) c);
  IF seqs <> '{}' THEN PERFORM report_ended_1(seqs, ARRAY[stopping.seq], at); END IF;
END $$;

-- The lock lets one of many who release it through: the leases of a store that sends again are not theirs to end.
CREATE OR REPLACE FUNCTION release_1(p_now bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  :durable;
  PERFORM 1 FROM projects p WHERE p.line IS NOT NULL ORDER BY p.seq FOR NO KEY UPDATE;
  PERFORM 1 FROM hold FOR UPDATE;
  IF hold_reason_1() IS NULL THEN RETURN false; END IF;
  PERFORM end_all_leases_1(p_now);
  PERFORM set_hold_1(NULL);
  -- What is not known here may have been reported under the numbers that come next.
  UPDATE projects SET line = NULL WHERE line IS NOT NULL;
  UPDATE hold SET releases = releases + 1;
  RETURN true;
END $$;
