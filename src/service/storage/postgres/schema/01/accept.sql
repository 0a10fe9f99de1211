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

-- seqs: of its messages, in order. earlier: of those recipients who were sent to before, by the place of the message.
CREATE TYPE accepted_batch_1 AS (
  kind text, at bigint, balance bigint, status int, body text, is_known boolean, seqs bigint[], earlier json
);
