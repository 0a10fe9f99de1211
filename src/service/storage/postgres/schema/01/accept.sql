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
