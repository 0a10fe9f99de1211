-- The mailbox of an address that is written with a tag or in capitals: caps count it with all spellings and tags. Null
-- for one that is its own mailbox, for a number, and for what the release before accepts.
ALTER TABLE messages ADD COLUMN mailbox text COLLATE "C";
UPDATE messages SET mailbox = lower(CASE
    WHEN strpos(recipient, '+') BETWEEN 2 AND strpos(recipient, '@')
      THEN left(recipient, strpos(recipient, '+') - 1) || substr(recipient, strpos(recipient, '@'))
    ELSE recipient END)
  WHERE channel = 'email'
    AND (recipient <> lower(recipient) OR strpos(recipient, '+') BETWEEN 2 AND strpos(recipient, '@'));
CREATE INDEX messages_mailbox ON messages (project, mailbox, counts_at) WHERE mailbox IS NOT NULL AND NOT refunded;
CREATE INDEX messages_spelled ON messages (project, lower(recipient)) WHERE mailbox IS NOT NULL;

-- Recipients are suppressed in lower case; an erasure has no address.
INSERT INTO suppressions (project, recipient, reason, created_at)
  SELECT project, lower(recipient), reason, created_at FROM suppressions
  WHERE strpos(recipient, '@') > 0 AND recipient <> lower(recipient) ORDER BY seq
  ON CONFLICT (project, recipient) DO NOTHING;
DELETE FROM suppressions WHERE strpos(recipient, '@') > 0 AND recipient <> lower(recipient);
DROP INDEX inbox_sender;
CREATE INDEX inbox_sender ON inbox (lower(sender COLLATE "C"));

-- mailbox: of an address, also where it is the recipient. most: the caps of a mailbox. pseudonyms: two of the recipient,
-- and that of the mailbox.
ALTER TYPE acceptance_1 ADD ATTRIBUTE mailbox text, ADD ATTRIBUTE most int[], ADD ATTRIBUTE pseudonyms text[];

-- When counted messages were accepted before one, the newest first: to a mailbox, or of those to one spelling of it in
-- lower case; with pseudonyms, those that were erased since as well.
CREATE FUNCTION earlier_to_1(p_project int, p_mailbox text, p_own text, p_after bigint, p_before bigint, p_limit int,
  p_pseudonyms text[])
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

-- Both, as [own, all]; null if there are none.
CREATE FUNCTION earlier_both_1(p_project int, p_recipient text, p_mailbox text, p_after bigint, p_before bigint,
  p_limit int, p_pseudonyms text[])
RETURNS json LANGUAGE plpgsql STABLE AS $$
DECLARE
  every bigint[];
  own bigint[];
BEGIN
  IF p_mailbox IS NULL THEN
    every := earlier_1(p_project, p_recipient, p_after, p_before, p_limit, p_pseudonyms[1]);
    own := every;
  ELSE
    every := earlier_to_1(p_project, p_mailbox, NULL, p_after, p_before, p_limit, p_pseudonyms[3:3]);
    -- What the release before erased has no pseudonym of its mailbox.
    IF every = '{}' AND p_pseudonyms IS NULL THEN RETURN NULL; END IF;
    own := earlier_to_1(p_project, p_mailbox, lower(p_recipient COLLATE "C"), p_after, p_before, p_limit,
      p_pseudonyms[1:2]);
  END IF;
  IF every = '{}' AND own = '{}' THEN RETURN NULL; END IF;
  RETURN json_build_array(own, every);
END $$;

-- Whether anything was sent to an address with a tag or in capitals.
CREATE FUNCTION has_spellings_1() RETURNS boolean LANGUAGE plpgsql STABLE :planned AS $$
BEGIN
  RETURN EXISTS (SELECT FROM messages WHERE mailbox IS NOT NULL);
END $$;

-- Their arguments and results stay, so that the release before calls these.

CREATE OR REPLACE FUNCTION can_accept_all_1(p_items acceptance_1[], p_at bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RETURN NOT is_resetting_1(p_at) AND hold_reason_1() IS NULL
  AND NOT EXISTS (SELECT 1 FROM unnest(p_items) i LEFT JOIN projects p ON p.id = i.project WHERE p.seq IS NULL)
  AND NOT EXISTS (SELECT 1 FROM unnest(p_items) i
    CROSS JOIN LATERAL (SELECT 1 FROM messages m WHERE m.id = i.id LIMIT 1) known)
  AND NOT EXISTS (SELECT 1 FROM unnest(p_items) i JOIN projects p ON p.id = i.project
    CROSS JOIN LATERAL (SELECT 1 FROM idempotency k WHERE k.project = p.seq AND k.key = i.key LIMIT 1) used)
  AND NOT EXISTS (SELECT 1 FROM unnest(p_items) i WHERE i.key IS NOT NULL
    GROUP BY i.project, i.key HAVING count(*) > 1)
  AND NOT EXISTS (SELECT 1 FROM unnest(p_items) i GROUP BY i.project, coalesce(i.mailbox, i.recipient)
    HAVING count(*) > 1)
  AND NOT EXISTS (SELECT 1 FROM unnest(p_items) i GROUP BY i.project
    HAVING sum(i.credits) > (SELECT balance FROM projects WHERE id = i.project))
  -- Of an address all messages to its mailbox: more than count for it alone.
  AND NOT EXISTS (SELECT 1 FROM unnest(p_items) i JOIN projects p ON p.id = i.project
    CROSS JOIN LATERAL (SELECT CASE WHEN i.mailbox IS NULL THEN
        earlier_1(p.seq, i.recipient, p_at - (SELECT max(w) FROM unnest(i.windows) w),
          9223372036854775807, (SELECT max(c) FROM unnest(i.caps) c), i.pseudonym)
      ELSE earlier_to_1(p.seq, i.mailbox, NULL, p_at - (SELECT max(w) FROM unnest(i.windows) w),
          9223372036854775807, (SELECT max(c) FROM unnest(i.caps) c), i.pseudonyms) END AS times OFFSET 0) e
    WHERE e.times[1] > p_at + :tolerance OR cap_wait_1(e.times, i.caps, i.windows, p_at) IS NOT NULL);
END $$;

CREATE OR REPLACE FUNCTION accept_one_1(p_item acceptance_1, p_at bigint) RETURNS accepted_1 LANGUAGE plpgsql AS $$
DECLARE
  outcome accepted_1;
  project record;
  since bigint := p_at - (SELECT max(w) FROM unnest(p_item.windows) w);
  endless bigint := 9223372036854775807;
  earlier bigint[];
  every bigint[];
  wait bigint;
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

-- p_pseudonyms: of the recipient and its mailbox, whose sends of the last days the caps still count.
CREATE FUNCTION prune_messages_2(p_now bigint, p_seqs bigint[], p_pseudonyms text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  gone record;
BEGIN
  :durable;
  IF p_pseudonyms IS NOT NULL THEN
    -- Sends are accepted before it or after it.
    PERFORM 1 FROM projects WHERE seq = ANY (ARRAY(SELECT m.project FROM messages m WHERE m.seq = ANY (p_seqs)))
      ORDER BY seq FOR NO KEY UPDATE;
  END IF;
  PERFORM 1 FROM messages WHERE seq = ANY (p_seqs) ORDER BY seq FOR NO KEY UPDATE;
  IF p_pseudonyms IS NOT NULL THEN
    INSERT INTO erasures (project, pseudonym, message, counts_at)
    SELECT m.project, one, m.seq, m.counts_at FROM messages m CROSS JOIN unnest(p_pseudonyms) one
    WHERE m.seq = ANY (p_seqs) AND m.status <> 'queued' AND m.content <> 0 AND NOT m.refunded
      AND m.counts_at > time_1(p_now) - :counted_for;
  END IF;
  FOR gone IN
    SELECT m.batch, m.content, array_agg(m.seq) AS seqs FROM messages m
    WHERE m.seq = ANY (p_seqs) AND m.status <> 'queued' AND m.content <> 0
    GROUP BY m.batch, m.content ORDER BY m.batch, m.content
  LOOP
    UPDATE messages SET recipient = '', mailbox = NULL, content = 0, doubt_until = NULL,
      error_message = CASE WHEN error_message IS NOT NULL THEN ':pruned_text' END
    WHERE seq = ANY (gone.seqs);
    DELETE FROM receipts WHERE message = ANY (gone.seqs);
    IF gone.batch IS NULL THEN
      DELETE FROM contents WHERE seq = gone.content;
    ELSE
      -- Of two portions of a batch the second sees that nothing is left.
      PERFORM 1 FROM batches WHERE seq = gone.batch FOR NO KEY UPDATE;
      IF NOT EXISTS (SELECT 1 FROM messages m WHERE m.batch = gone.batch AND m.content <> 0) THEN
        DELETE FROM contents WHERE seq = gone.content;
        UPDATE batches SET pruned_at = time_1(p_now) WHERE seq = gone.batch;
      END IF;
    END IF;
  END LOOP;
END $$;
