-- Ends of messages, and the receipts that carriers give for them.

-- Messages of batches that may have arrived: a table of their own, for an index of messages by their delivery would make
-- every receipt write all indexes of its message.
CREATE TABLE unknown_deliveries (
  batch bigint NOT NULL,
  message bigint NOT NULL,
  PRIMARY KEY (batch, message)
);

-- The state of a message is that of its segments: delivered when all are, undelivered when one is.
CREATE FUNCTION update_delivery_2(p_seq bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  in_batch bigint;
  states text[] := ARRAY(SELECT r.state FROM receipts r WHERE r.message = p_seq);
  new_state text;
  -- In doubt nobody has learnt how many segments there are: no more than parts.
  fewest int := coalesce((SELECT m.parts FROM messages m WHERE m.seq = p_seq AND m.doubt_until IS NOT NULL), 1);
BEGIN
  new_state := (SELECT s FROM unnest(states) s WHERE s IN ('bounced', 'undelivered') LIMIT 1);
  IF new_state IS NULL THEN
    IF cardinality(states) < fewest OR array_position(states, NULL) IS NOT NULL THEN RETURN; END IF;
    new_state := CASE WHEN 'delivered' = ALL (states) THEN 'delivered' ELSE 'unknown' END;
  END IF;
  UPDATE messages SET delivery = new_state, doubt_until = NULL
  WHERE seq = p_seq AND status = 'sent' AND (delivery IS NULL OR delivery = 'unknown') RETURNING batch INTO in_batch;
  IF in_batch IS NULL THEN RETURN; END IF;
  IF new_state = 'unknown' THEN
    INSERT INTO unknown_deliveries (batch, message) VALUES (in_batch, p_seq) ON CONFLICT DO NOTHING;
  ELSE
    DELETE FROM unknown_deliveries WHERE batch = in_batch AND message = p_seq;
  END IF;
END $$;

CREATE FUNCTION finalize_2(p_now bigint, p_items json)
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

-- For instances of the release before: they do what those of this one do.

CREATE OR REPLACE FUNCTION finalize_1(p_now bigint, p_items json)
RETURNS TABLE (seq bigint, at bigint, balance bigint, delivery text) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT * FROM finalize_2(p_now, p_items);
END $$;

CREATE OR REPLACE FUNCTION receive_1(p_now bigint, p_route text, p_carrier_id text, p_recipient text, p_state text,
  p_reference text, p_submitted_at bigint, p_window bigint, p_most int)
RETURNS SETOF claimed_1 LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT * FROM receive_2(p_now, p_route, p_carrier_id, p_recipient, p_state, p_reference, p_submitted_at,
    p_window, p_most);
END $$;

-- Forgets everything but projects, their settings and keys.
CREATE FUNCTION reset_2(p_now bigint, p_balance bigint, p_hold_ms bigint) RETURNS TABLE (id text, recipient text)
LANGUAGE plpgsql AS $$
DECLARE
  at bigint;
BEGIN
  :durable;
  LOCK TABLE projects IN EXCLUSIVE MODE;
  LOCK TABLE leases, messages, queue IN ACCESS EXCLUSIVE MODE;
  at := time_1(p_now);
  RETURN QUERY SELECT m.id, m.recipient FROM messages m WHERE m.status = 'queued' AND m.route IS NOT NULL;
  TRUNCATE verifications, idempotency, messages, batches, contents, ledger, receipts, queue, leases,
    inbox, suppressions, erasures, unknown_deliveries, turns;
  UPDATE projects SET balance = p_balance;
  INSERT INTO ledger (project, amount, reason, created_at)
  SELECT seq, p_balance, 'opening', at FROM projects WHERE p_balance <> 0 ORDER BY seq;
  UPDATE resets SET until = at + p_hold_ms;
END $$;

CREATE OR REPLACE FUNCTION reset_1(p_now bigint, p_balance bigint, p_hold_ms bigint)
RETURNS TABLE (id text, recipient text) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT * FROM reset_2(p_now, p_balance, p_hold_ms);
END $$;
