-- Accepting sends: in groups, with the rows of their projects locked first, so that every check is exact.

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
      9223372036854775807, (SELECT max(c) FROM unnest(i.caps) c), i.pseudonym) AS times OFFSET 0) e
    WHERE e.times[1] > p_at + :tolerance OR cap_wait_1(e.times, i.caps, i.windows, p_at) IS NOT NULL);
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
  earlier := earlier_1(project.seq, p_item.recipient, p_at - (SELECT max(w) FROM unnest(p_item.windows) w),
    9223372036854775807, (SELECT max(c) FROM unnest(p_item.caps) c), p_item.pseudonym);
  IF earlier[1] > p_at + :tolerance THEN
    UPDATE messages SET counts_at = p_at WHERE messages.project = project.seq AND recipient = p_item.recipient
      AND NOT refunded AND counts_at > p_at + :tolerance;
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

CREATE FUNCTION accept_1(p_now bigint, p_items json) RETURNS SETOF accepted_1 LANGUAGE plpgsql :planned AS $$
DECLARE
  items acceptance_1[];
  one accepted_1;
  at bigint;
BEGIN
  :durable;
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
