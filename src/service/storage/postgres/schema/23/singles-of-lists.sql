-- A queued single message of a list takes its turn with the batches, as one of batch 0. The caller of an SMS waits for it.

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
  SELECT m.lane, CASE WHEN :is_of_list THEN 1 ELSE 0 END, m.project, coalesce(m.batch, 0), at + i.delay_ms, m.seq, at,
    m.bound_at
  FROM unnest(items) i CROSS JOIN LATERAL (SELECT * FROM messages m WHERE m.seq = i.seq OFFSET 0) m
  WHERE coalesce(i.seq IN (SELECT unnest(seqs)), false);
  PERFORM leave_1(tokens, seqs);
END $$;

CREATE OR REPLACE FUNCTION end_lease_1(p_lease leases, p_at bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM messages m WHERE m.seq = ANY (p_lease.messages) ORDER BY m.seq FOR NO KEY UPDATE;
  UPDATE messages m SET doubt_until = coalesce(m.doubt_until, p_at + m.doubt_ms)
  WHERE m.seq = ANY (p_lease.messages) AND m.status = 'queued' AND m.route IS NOT NULL;
  INSERT INTO queue (lane, class, project, batch, due_at, message, queued_at, bound_at)
  SELECT m.lane, CASE WHEN m.route IS NOT NULL THEN 2 WHEN :is_of_list THEN 1 ELSE 0 END, m.project,
    coalesce(m.batch, 0), CASE WHEN m.route IS NOT NULL THEN p_at ELSE least(p_lease.until, p_at) END, m.seq, p_at,
    m.bound_at
  FROM messages m WHERE m.seq = ANY (p_lease.messages) AND m.status = 'queued';
  DELETE FROM leases WHERE token = p_lease.token;
END $$;

UPDATE queue q SET class = 1 FROM messages m WHERE q.class = 0 AND m.seq = q.message AND :is_of_list;

CREATE OR REPLACE FUNCTION store_accepted_1(p_items acceptance_1[], p_at bigint) RETURNS SETOF accepted_1
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY WITH item AS MATERIALIZED (
    SELECT i.*, p.seq AS project_seq,
      p.balance - sum(i.credits) OVER (PARTITION BY p.seq ORDER BY i.ordinality) AS balance_left,
      nextval('contents_seq_seq') AS content, nextval('messages_seq_seq') AS seq
    FROM unnest(p_items) WITH ORDINALITY i JOIN projects p ON p.id = i.project
  ), charge AS (
    UPDATE projects p SET balance = p.balance - s.spent
    FROM (SELECT project_seq, sum(credits)::bigint AS spent FROM item GROUP BY project_seq) s
    WHERE p.seq = s.project_seq AND s.spent <> 0
  ), entry AS (
    INSERT INTO ledger (project, amount, reason, subject_id, created_at)
    SELECT project_seq, -credits, CASE WHEN verification IS NULL THEN 'message' ELSE 'verification' END,
      coalesce(verification, id), p_at FROM item WHERE credits <> 0
  ), said AS (
    INSERT INTO contents (seq, text, html, subject, sender, reply_to, encrypted, is_bulk)
    SELECT content, text, html, subject, sender, reply_to, decode(encrypted, 'hex'), coalesce(is_bulk, false) FROM item
  ), message AS (
    INSERT INTO messages (seq, id, project, content, channel, recipient, mailbox, operator, parts, rate_multiplier,
      credits, created_at, counts_at, lane, route, attempts, pending_key, doubt_ms, bound_at)
    SELECT seq, id, project_seq, content, channel, recipient, nullif(mailbox, recipient), operator, parts,
      rate_multiplier, credits, p_at, p_at,
      lane, CASE WHEN token IS NOT NULL THEN route END, CASE WHEN token IS NULL THEN 0 ELSE 1 END,
      CASE WHEN status IS NULL THEN key END, doubt_ms, p_at + bound_ms FROM item
  ), waiting AS (
    INSERT INTO queue (lane, class, project, due_at, message, queued_at, bound_at)
    SELECT lane, (channel = 'email' AND coalesce(is_bulk, false))::int, project_seq, p_at, seq, p_at, p_at + bound_ms FROM item WHERE token IS NULL
  ), leased AS (
    INSERT INTO leases (token, until, length, messages)
    SELECT token, p_at + max(lease_ms), max(lease_ms), array_agg(seq) FROM item WHERE token IS NOT NULL GROUP BY token
  ), verification AS (
    INSERT INTO verifications (id, project, message, code_hash, attempts_remaining, life_ms, created_at, counts_at)
    SELECT verification, project_seq, seq, decode(code_hash, 'hex'), attempts, life_ms, p_at, p_at FROM item
    WHERE verification IS NOT NULL
  ), answer AS (
    INSERT INTO idempotency (project, key, message, status, body)
    SELECT project_seq, key, seq, status,
      CASE WHEN status IS NOT NULL THEN body_1(head, tail, p_at, has_balance, balance_left::bigint) END
    FROM item WHERE key IS NOT NULL
  )
  SELECT ordinality::int, 'accepted', seq, p_at, balance_left::bigint, NULL::bigint, NULL::int, NULL::text, false
  FROM item;
END $$;
