-- Of what releases before this one queue it is 0, until the next step: a project and a batch like any other. Of doubts it
-- says nothing. batch: 0 of a single message.
ALTER TABLE queue ADD COLUMN project int NOT NULL DEFAULT 0, ADD COLUMN batch bigint NOT NULL DEFAULT 0;

-- Whose turn it is in a lane and class: in the row of project 0 a project's, in that of a project one of its batches'.
-- taken: what a batch has had of its slice. Lost at a crash, which costs a turn.
CREATE UNLOGGED TABLE turns (
  lane text COLLATE "C" NOT NULL,
  class smallint NOT NULL,
  project int NOT NULL,
  next bigint NOT NULL,
  taken int NOT NULL,
  PRIMARY KEY (lane, class, project)
) WITH (fillfactor = 50);

-- What writes the queue. Their arguments and results stay, so that the release before calls these.

-- The message that the key was used for, the first one of a batch; null for one of the release before.
ALTER TABLE idempotency ADD COLUMN message bigint;

CREATE OR REPLACE FUNCTION accept_batch_1(p_now bigint, p json) RETURNS accepted_batch_1 LANGUAGE plpgsql :planned AS $$
DECLARE
  outcome accepted_batch_1;
  project record;
  batch acceptance_1 := json_populate_record(NULL::acceptance_1, p);
  recipients json := p -> 'recipients';
  total int := json_array_length(recipients);
  at bigint;
  batch_seq bigint;
  content_seq bigint;
  seqs bigint[];
BEGIN
  :durable;
  SELECT seq, balance INTO project FROM projects WHERE id = batch.project FOR NO KEY UPDATE;
  IF NOT FOUND THEN RAISE EXCEPTION 'there is no project %', batch.project; END IF;
  at := time_1(p_now);
  IF batch.token IS NOT NULL AND recipients -> 0 ->> 5 IS NULL AND EXISTS (SELECT 1 FROM erasures) THEN
    RETURN ('erased', NULL, NULL, NULL, NULL, false, NULL, NULL)::accepted_batch_1;
  END IF;
  SELECT 'accepted', b.created_at, coalesce(substring(k.body from '"balance":(\d+)}$')::bigint, project.balance), NULL,
    NULL, true, NULL, NULL
  INTO outcome FROM batches b LEFT JOIN idempotency k ON k.project = b.project AND k.key = batch.key WHERE b.id = batch.id;
  IF FOUND THEN RETURN outcome; END IF;
  IF is_resetting_1(at) THEN RETURN ('resetting', NULL, NULL, NULL, NULL, false, NULL, NULL)::accepted_batch_1; END IF;
  IF hold_reason_1() IS NOT NULL THEN
    RETURN ('held', NULL, NULL, NULL, NULL, false, NULL, NULL)::accepted_batch_1;
  END IF;
  SELECT 'repeat', NULL, NULL, k.status, k.body, false, NULL, NULL INTO outcome
  FROM idempotency k WHERE k.project = project.seq AND k.key = batch.key;
  IF FOUND THEN RETURN outcome; END IF;
  IF project.balance < batch.credits * total THEN
    RETURN ('insufficient', NULL, project.balance, NULL, NULL, false, NULL, NULL)::accepted_batch_1;
  END IF;
  IF batch.credits * total <> 0 THEN
    UPDATE projects SET balance = balance - batch.credits * total WHERE seq = project.seq;
    INSERT INTO ledger (project, amount, reason, subject_id, created_at)
    VALUES (project.seq, -batch.credits * total, 'batch', batch.id, at);
  END IF;
  INSERT INTO contents (text, html, subject, sender, reply_to, encrypted)
  VALUES (batch.text, batch.html, batch.subject, batch.sender, batch.reply_to, decode(batch.encrypted, 'hex'))
  RETURNING seq INTO content_seq;
  INSERT INTO batches (id, project, channel, total, credits, created_at)
  VALUES (batch.id, project.seq, batch.channel, total, batch.credits * total, at) RETURNING seq INTO batch_seq;
  WITH item AS MATERIALIZED (
    SELECT nextval('messages_seq_seq') AS seq, r FROM json_array_elements(recipients) r
  ), message AS (
    INSERT INTO messages (seq, id, project, batch, content, channel, recipient, operator, parts, rate_multiplier,
      credits, created_at, counts_at, lane, route, attempts, doubt_ms, bound_at)
    SELECT seq, r ->> 0, project.seq, batch_seq, content_seq, batch.channel, r ->> 1, r ->> 2, batch.parts,
      batch.rate_multiplier, batch.credits, at, at, r ->> 3, CASE WHEN batch.token IS NOT NULL THEN r ->> 4 END,
      CASE WHEN batch.token IS NULL THEN 0 ELSE 1 END, batch.doubt_ms, at + batch.bound_ms FROM item
  ), waiting AS (
    INSERT INTO queue (lane, class, project, batch, due_at, message, queued_at, bound_at)
    SELECT r ->> 3, 1, project.seq, batch_seq, at, seq, at, at + batch.bound_ms FROM item WHERE batch.token IS NULL
  )
  SELECT array_agg(seq ORDER BY seq) INTO seqs FROM item;
  IF batch.key IS NOT NULL THEN
    INSERT INTO idempotency (project, key, message, status, body)
    VALUES (project.seq, batch.key, seqs[1], batch.status,
      body_1(batch.head, batch.tail, at, batch.has_balance, project.balance - batch.credits * total));
  END IF;
  outcome := ('accepted', at, project.balance - batch.credits * total, NULL, NULL, false, NULL, NULL)::accepted_batch_1;
  IF batch.token IS NOT NULL THEN
    INSERT INTO leases (token, until, length, messages)
    VALUES (batch.token, at + batch.lease_ms, batch.lease_ms, seqs);
    outcome.seqs := seqs;
    SELECT json_agg(json_build_array(ordinality - 1, times)) INTO outcome.earlier FROM (
      SELECT ordinality, earlier_1(project.seq, r ->> 1, at - (SELECT max(w) FROM unnest(batch.windows) w),
        seqs[ordinality], (SELECT max(c) FROM unnest(batch.caps) c), r ->> 5) AS times
      FROM json_array_elements(recipients) WITH ORDINALITY AS e(r, ordinality)) e
    WHERE times <> '{}';
  END IF;
  RETURN outcome;
END $$;

-- Takes messages back into the queue. Its arguments stay, so that the release before calls it.
CREATE OR REPLACE FUNCTION postpone_1(p_now bigint, p_items json) RETURNS void LANGUAGE plpgsql :planned AS $$
DECLARE
  items held_1[];
  seqs bigint[];
  tokens text[];
  at bigint;
BEGIN
  :durable;
  SELECT array_agg(i) INTO items FROM json_populate_recordset(NULL::held_1, p_items) i;
  tokens := lock_leases_1(ARRAY(SELECT i.token FROM unnest(items) i), ARRAY(SELECT i.seq FROM unnest(items) i));
  seqs := ARRAY(SELECT standing_1(items));
  at := time_1(p_now);
  tokens := tokens || unqueue_doubts_1(seqs);
  UPDATE messages m SET route = NULL, doubt_ms = NULL, doubt_until = NULL, lane = i.lane,
    tries = m.tries + i.is_try::int
  FROM rows_1(items) i WHERE m.seq = i.seq AND m.seq = ANY (seqs);
  INSERT INTO queue (lane, class, project, batch, due_at, message, queued_at, bound_at)
  SELECT m.lane, (m.batch IS NOT NULL)::int, m.project, coalesce(m.batch, 0), at + i.delay_ms, m.seq, at, m.bound_at
  FROM unnest(items) i CROSS JOIN LATERAL (SELECT * FROM messages m WHERE m.seq = i.seq OFFSET 0) m
  WHERE coalesce(i.seq IN (SELECT unnest(seqs)), false);
  PERFORM leave_1(tokens, seqs);
END $$;

-- Puts the messages of a lease back into the queue. Its arguments stay, so that the release before calls it.
CREATE OR REPLACE FUNCTION end_lease_1(p_lease leases, p_at bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM messages m WHERE m.seq = ANY (p_lease.messages) ORDER BY m.seq FOR NO KEY UPDATE;
  UPDATE messages m SET doubt_until = coalesce(m.doubt_until, p_at + m.doubt_ms)
  WHERE m.seq = ANY (p_lease.messages) AND m.status = 'queued' AND m.route IS NOT NULL;
  INSERT INTO queue (lane, class, project, batch, due_at, message, queued_at, bound_at)
  SELECT m.lane, CASE WHEN m.route IS NOT NULL THEN 2 ELSE (m.batch IS NOT NULL)::int END, m.project, coalesce(m.batch, 0),
    CASE WHEN m.route IS NOT NULL THEN p_at ELSE least(p_lease.until, p_at) END, m.seq, p_at, m.bound_at
  FROM messages m WHERE m.seq = ANY (p_lease.messages) AND m.status = 'queued';
  DELETE FROM leases WHERE token = p_lease.token;
END $$;
