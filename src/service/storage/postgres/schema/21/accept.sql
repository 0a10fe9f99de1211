-- When counted messages were accepted before one, the newest first: to a mailbox, or of those to one spelling of it in
-- lower case; with pseudonyms, those that were erased since as well.
CREATE OR REPLACE FUNCTION earlier_to_1(p_project int, p_mailbox text, p_own text, p_after bigint, p_before bigint,
  p_limit int, p_pseudonyms text[])
RETURNS bigint[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN ARRAY(SELECT e.counts_at FROM (
    SELECT m.counts_at FROM (
      (SELECT b.counts_at FROM messages b
        WHERE b.project = p_project AND b.recipient = p_mailbox AND NOT b.refunded AND b.counts_at > p_after
          AND b.seq + 0 < p_before AND (p_own IS NULL OR p_own = p_mailbox)
        ORDER BY b.counts_at DESC LIMIT p_limit)
      UNION ALL
      (SELECT s.counts_at FROM messages s
        WHERE s.project = p_project AND s.mailbox = p_mailbox AND NOT s.refunded AND s.counts_at > p_after
          AND s.seq + 0 < p_before AND (p_own IS NULL OR lower(s.recipient) = p_own)
        ORDER BY s.counts_at DESC LIMIT p_limit)) m
    UNION ALL
    SELECT g.counts_at FROM (SELECT DISTINCT r.message, r.counts_at FROM erasures r
      WHERE r.project = p_project AND r.pseudonym = ANY (p_pseudonyms) AND r.counts_at > p_after
        AND r.message < p_before) g) e
    ORDER BY e.counts_at DESC LIMIT p_limit);
END $$;

-- Their arguments and results stay. body: of a suppressed recipient the reason.

CREATE OR REPLACE FUNCTION accept_one_1(p_item acceptance_1, p_at bigint) RETURNS accepted_1 LANGUAGE plpgsql AS $$
DECLARE
  outcome accepted_1;
  project record;
  since bigint := p_at - (SELECT max(w) FROM unnest(p_item.windows) w);
  endless bigint := 9223372036854775807;
  earlier bigint[];
  every bigint[];
  wait bigint;
  reason text;
BEGIN
  SELECT seq, balance INTO project FROM projects WHERE id = p_item.project;
  IF NOT FOUND THEN RAISE EXCEPTION 'there is no project %', p_item.project; END IF;
  SELECT 1, 'accepted', m.seq, m.created_at,
    coalesce(substring(k.body from '"balance":(\d+)}$')::bigint, project.balance), NULL, NULL, NULL, true
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
  reason := suppressed_1(project.seq, p_item.recipient, p_item.mailbox, p_item.pseudonyms, p_item.obeys_opt_outs);
  IF reason IS NOT NULL THEN
    RETURN (1, 'suppressed', NULL, NULL, NULL, NULL, NULL, reason, false)::accepted_1;
  END IF;
  IF p_item.mailbox IS NULL THEN
    earlier := earlier_1(project.seq, p_item.recipient, since, endless, (SELECT max(c) FROM unnest(p_item.caps) c),
      p_item.pseudonym);
    every := earlier;
  ELSE
    earlier := earlier_to_1(project.seq, p_item.mailbox, lower(p_item.recipient COLLATE "C"), since, endless,
      (SELECT max(c) FROM unnest(p_item.caps) c), p_item.pseudonyms[1:2]);
    every := earlier_to_1(project.seq, p_item.mailbox, NULL, since, endless,
      (SELECT max(c) FROM unnest(p_item.most) c), p_item.pseudonyms[3:3]);
  END IF;
  IF greatest(earlier[1], every[1]) > p_at + :tolerance THEN
    UPDATE messages m SET counts_at = p_at WHERE m.project = project.seq
      AND m.recipient = coalesce(p_item.mailbox, p_item.recipient) AND NOT m.refunded AND m.counts_at > p_at + :tolerance;
    UPDATE messages m SET counts_at = p_at WHERE m.project = project.seq AND m.mailbox = p_item.mailbox
      AND NOT m.refunded AND m.counts_at > p_at + :tolerance;
  END IF;
  wait := greatest(cap_wait_1(earlier, p_item.caps, p_item.windows, p_at),
    cap_wait_1(every, p_item.most, p_item.windows, p_at));
  IF wait IS NOT NULL THEN
    RETURN (1, 'capped', NULL, NULL, NULL, wait, NULL, NULL, false)::accepted_1;
  END IF;
  IF project.balance < p_item.credits THEN
    RETURN (1, 'insufficient', NULL, NULL, project.balance, NULL, NULL, NULL, false)::accepted_1;
  END IF;
  SELECT * INTO outcome FROM store_accepted_1(ARRAY[p_item], p_at);
  RETURN outcome;
END $$;

CREATE OR REPLACE FUNCTION accept_1(p_now bigint, p_items json) RETURNS SETOF accepted_1 LANGUAGE plpgsql :planned AS $$
DECLARE
  items acceptance_1[];
  one accepted_1;
  at bigint;
  listed boolean;
  accepts_all boolean;
BEGIN
  :durable;
  SELECT array_agg(i) INTO items FROM json_populate_recordset(NULL::acceptance_1, p_items) i;
  PERFORM 1 FROM projects WHERE id IN (SELECT project FROM unnest(items)) ORDER BY seq FOR NO KEY UPDATE;
  at := time_1(p_now);
  -- Most projects have no list, and pay for nothing else.
  listed := EXISTS (SELECT 1 FROM projects p
    CROSS JOIN LATERAL (SELECT 1 FROM suppressions s WHERE s.project = p.seq LIMIT 1) l
    WHERE p.id IN (SELECT i.project FROM unnest(items) i));
  -- Caps and suppressions need pseudonyms, which only the caller can make.
  IF (listed OR EXISTS (SELECT 1 FROM erasures)) AND EXISTS (SELECT 1 FROM unnest(items) i WHERE i.pseudonym IS NULL) THEN
    IF EXISTS (SELECT 1 FROM erasures) OR is_erased_1(ARRAY(SELECT i.project FROM unnest(items) i)) THEN
      RETURN QUERY SELECT ordinality::int, 'erased', NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::int,
        NULL::text, false FROM unnest(items) WITH ORDINALITY;
      RETURN;
    END IF;
  END IF;
  accepts_all := can_accept_all_1(items, at);
  IF accepts_all AND listed THEN
    accepts_all := NOT EXISTS (SELECT 1 FROM unnest(items) i
      CROSS JOIN LATERAL (SELECT p.seq FROM projects p WHERE p.id = i.project LIMIT 1) own
      WHERE suppressed_1(own.seq, i.recipient, i.mailbox, i.pseudonyms, i.obeys_opt_outs) IS NOT NULL);
  END IF;
  IF accepts_all THEN
    RETURN QUERY SELECT * FROM store_accepted_1(items, at);
    RETURN;
  END IF;
  FOR index IN 1 .. array_length(items, 1) LOOP
    one := accept_one_1(items[index], at);
    one.ord := index;
    RETURN NEXT one;
  END LOOP;
END $$;

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
  -- Marks ask who is suppressed.
  IF batch.token IS NOT NULL AND is_listed_1(ARRAY[batch.project]) THEN
    batch.token := NULL;
    batch.doubt_ms := NULL;
  END IF;
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
    INSERT INTO messages (seq, id, project, batch, content, channel, recipient, mailbox, operator, parts,
      rate_multiplier, credits, created_at, counts_at, lane, route, attempts, doubt_ms, bound_at)
    SELECT seq, r ->> 0, project.seq, batch_seq, content_seq, batch.channel, r ->> 1, nullif(r ->> 6, r ->> 1), r ->> 2,
      batch.parts,
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
    -- For the release before, times alone; it sends no most.
    SELECT json_agg(json_build_array(ordinality - 1, CASE WHEN batch.most IS NULL THEN times -> 1 ELSE times END))
    INTO outcome.earlier FROM (
      SELECT ordinality, earlier_both_1(project.seq, r ->> 1, r ->> 6, at - (SELECT max(w) FROM unnest(batch.windows) w),
        seqs[ordinality], (SELECT max(c) FROM unnest(batch.caps) c),
        CASE WHEN r ->> 5 IS NOT NULL THEN coalesce(ARRAY(SELECT json_array_elements_text(r -> 7)), ARRAY[r ->> 5]) END) AS times
      FROM json_array_elements(recipients) WITH ORDINALITY AS e(r, ordinality)) e
    WHERE times IS NOT NULL;
  END IF;
  RETURN outcome;
END $$;
