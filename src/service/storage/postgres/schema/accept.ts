import { durable, planned, tolerance } from './shared.js';

const never = '9223372036854775807';

/** Accepting sends: in groups, with the rows of their projects locked first, so that every check is exact. */
export const acceptFunctions = `
CREATE TYPE acceptance_1 AS (
  project text, id text, channel text, recipient text, operator text, parts int, rate_multiplier double precision,
  credits bigint, lane text, route text, text text, html text, subject text, sender text, reply_to text,
  encrypted text, key text, token text, lease_ms bigint, doubt_ms bigint, bound_ms bigint, caps int[],
  windows bigint[], status int, head text, tail text, has_balance boolean, verification text, code_hash text,
  attempts int, life_ms bigint, pseudonym text
);

-- is_known: accepted by an earlier call with the same id, whose answer was lost.
CREATE TYPE accepted_1 AS (
  ord int, kind text, seq bigint, at bigint, balance bigint, wait_ms bigint, status int, body text, is_known boolean
);

-- Milliseconds until no cap is reached; null for now. p_earlier: the newest first.
CREATE FUNCTION cap_wait_1(p_earlier bigint[], p_caps int[], p_windows bigint[], p_at bigint)
RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF p_earlier = '{}' THEN RETURN NULL; END IF;
  RETURN (SELECT max(least(p_earlier[c.cap], p_at) + c.span) - p_at FROM unnest(p_caps, p_windows) AS c(cap, span)
    WHERE p_earlier[c.cap] IS NOT NULL AND least(p_earlier[c.cap], p_at) > p_at - c.span);
END $$;

-- Whether every one of a group can be accepted, and none depends on another.
CREATE FUNCTION can_accept_all_1(p_items acceptance_1[], p_at bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RETURN NOT is_resetting_1(p_at) AND hold_reason_1() IS NULL
  AND NOT EXISTS (SELECT 1 FROM unnest(p_items) i LEFT JOIN projects p ON p.id = i.project WHERE p.seq IS NULL)
  AND NOT EXISTS (SELECT 1 FROM unnest(p_items) i
    CROSS JOIN LATERAL (SELECT 1 FROM messages m WHERE m.id = i.id LIMIT 1) known)
  AND NOT EXISTS (SELECT 1 FROM unnest(p_items) i JOIN projects p ON p.id = i.project
    CROSS JOIN LATERAL (SELECT 1 FROM idempotency k WHERE k.project = p.seq AND k.key = i.key LIMIT 1) used)
  AND NOT EXISTS (SELECT 1 FROM unnest(p_items) i WHERE i.key IS NOT NULL
    GROUP BY i.project, i.key HAVING count(*) > 1)
  AND NOT EXISTS (SELECT 1 FROM unnest(p_items) i GROUP BY i.project, i.recipient HAVING count(*) > 1)
  AND NOT EXISTS (SELECT 1 FROM unnest(p_items) i GROUP BY i.project
    HAVING sum(i.credits) > (SELECT balance FROM projects WHERE id = i.project))
  AND NOT EXISTS (SELECT 1 FROM unnest(p_items) i JOIN projects p ON p.id = i.project
    CROSS JOIN LATERAL (SELECT earlier_1(p.seq, i.recipient, p_at - (SELECT max(w) FROM unnest(i.windows) w),
      ${never}, (SELECT max(c) FROM unnest(i.caps) c), i.pseudonym) AS times OFFSET 0) e
    WHERE e.times[1] > p_at + ${tolerance} OR cap_wait_1(e.times, i.caps, i.windows, p_at) IS NOT NULL);
END $$;

-- One after the other: each sees what those before it have done.
CREATE FUNCTION accept_one_1(p_item acceptance_1, p_at bigint) RETURNS accepted_1 LANGUAGE plpgsql AS $$
DECLARE
  outcome accepted_1;
  project record;
  earlier bigint[];
  wait bigint;
BEGIN
  SELECT seq, balance INTO project FROM projects WHERE id = p_item.project;
  IF NOT FOUND THEN RAISE EXCEPTION 'there is no project %', p_item.project; END IF;
  SELECT 1, 'accepted', m.seq, m.created_at,
    coalesce(substring(k.body from '"balance":(\\d+)}$')::bigint, project.balance), NULL, NULL, NULL, true
  INTO outcome FROM messages m LEFT JOIN idempotency k ON k.project = m.project AND k.key = p_item.key
  WHERE m.id = p_item.id;
  IF FOUND THEN RETURN outcome; END IF;
  IF is_resetting_1(p_at) THEN RETURN (1, 'resetting', NULL, NULL, NULL, NULL, NULL, NULL, false)::accepted_1; END IF;
  IF hold_reason_1() IS NOT NULL THEN
    RETURN (1, 'held', NULL, NULL, NULL, NULL, NULL, NULL, false)::accepted_1;
  END IF;
  SELECT 1, 'repeat', NULL, NULL, NULL, NULL, k.status, k.body, false INTO outcome
  FROM idempotency k WHERE k.project = project.seq AND k.key = p_item.key;
  IF FOUND THEN RETURN outcome; END IF;
  earlier := earlier_1(project.seq, p_item.recipient, p_at - (SELECT max(w) FROM unnest(p_item.windows) w),
    ${never}, (SELECT max(c) FROM unnest(p_item.caps) c), p_item.pseudonym);
  IF earlier[1] > p_at + ${tolerance} THEN
    UPDATE messages SET counts_at = p_at WHERE messages.project = project.seq AND recipient = p_item.recipient
      AND NOT refunded AND counts_at > p_at + ${tolerance};
  END IF;
  wait := cap_wait_1(earlier, p_item.caps, p_item.windows, p_at);
  IF wait IS NOT NULL THEN
    RETURN (1, 'capped', NULL, NULL, NULL, wait, NULL, NULL, false)::accepted_1;
  END IF;
  IF project.balance < p_item.credits THEN
    RETURN (1, 'insufficient', NULL, NULL, project.balance, NULL, NULL, NULL, false)::accepted_1;
  END IF;
  SELECT * INTO outcome FROM store_accepted_1(ARRAY[p_item], p_at);
  RETURN outcome;
END $$;

CREATE FUNCTION accept_1(p_now bigint, p_items json) RETURNS SETOF accepted_1 LANGUAGE plpgsql ${planned} AS $$
DECLARE
  items acceptance_1[];
  one accepted_1;
  at bigint;
BEGIN
  ${durable}
  SELECT array_agg(i) INTO items FROM json_populate_recordset(NULL::acceptance_1, p_items) i;
  PERFORM 1 FROM projects WHERE id IN (SELECT project FROM unnest(items)) ORDER BY seq FOR NO KEY UPDATE;
  at := time_1(p_now);
  -- The caps need pseudonyms, which only the caller can make.
  IF EXISTS (SELECT 1 FROM erasures) AND EXISTS (SELECT 1 FROM unnest(items) i WHERE i.pseudonym IS NULL) THEN
    RETURN QUERY SELECT ordinality::int, 'erased', NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::int,
      NULL::text, false FROM unnest(items) WITH ORDINALITY;
    RETURN;
  END IF;
  IF can_accept_all_1(items, at) THEN
    RETURN QUERY SELECT * FROM store_accepted_1(items, at);
    RETURN;
  END IF;
  FOR index IN 1 .. array_length(items, 1) LOOP
    one := accept_one_1(items[index], at);
    one.ord := index;
    RETURN NEXT one;
  END LOOP;
END $$;

-- seqs: of its messages, in order. earlier: of those recipients who were sent to before, by the place of the message.
CREATE TYPE accepted_batch_1 AS (
  kind text, at bigint, balance bigint, status int, body text, is_known boolean, seqs bigint[], earlier json
);
`;

/** What writes the queue. Their arguments and results stay, so that the release before calls these. */
export const acceptIntoQueue = `
-- The message that the key was used for, the first one of a batch; null for one of the release before.
ALTER TABLE idempotency ADD COLUMN message bigint;

-- Stores and charges what may be accepted.
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
    INSERT INTO contents (seq, text, html, subject, sender, reply_to, encrypted)
    SELECT content, text, html, subject, sender, reply_to, decode(encrypted, 'hex') FROM item
  ), message AS (
    INSERT INTO messages (seq, id, project, content, channel, recipient, operator, parts, rate_multiplier, credits,
      created_at, counts_at, lane, route, attempts, pending_key, doubt_ms, bound_at)
    SELECT seq, id, project_seq, content, channel, recipient, operator, parts, rate_multiplier, credits, p_at, p_at,
      lane, CASE WHEN token IS NOT NULL THEN route END, CASE WHEN token IS NULL THEN 0 ELSE 1 END,
      CASE WHEN status IS NULL THEN key END, doubt_ms, p_at + bound_ms FROM item
  ), waiting AS (
    INSERT INTO queue (lane, class, project, due_at, message, queued_at, bound_at)
    SELECT lane, 0, project_seq, p_at, seq, p_at, p_at + bound_ms FROM item WHERE token IS NULL
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

CREATE OR REPLACE FUNCTION accept_batch_1(p_now bigint, p json) RETURNS accepted_batch_1 LANGUAGE plpgsql ${planned} AS $$
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
  ${durable}
  SELECT seq, balance INTO project FROM projects WHERE id = batch.project FOR NO KEY UPDATE;
  IF NOT FOUND THEN RAISE EXCEPTION 'there is no project %', batch.project; END IF;
  at := time_1(p_now);
  IF batch.token IS NOT NULL AND recipients -> 0 ->> 5 IS NULL AND EXISTS (SELECT 1 FROM erasures) THEN
    RETURN ('erased', NULL, NULL, NULL, NULL, false, NULL, NULL)::accepted_batch_1;
  END IF;
  SELECT 'accepted', b.created_at, coalesce(substring(k.body from '"balance":(\\d+)}$')::bigint, project.balance), NULL,
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
`;
