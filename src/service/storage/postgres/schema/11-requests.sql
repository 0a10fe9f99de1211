-- Requests that may go out again, until their messages end.

-- first_at: when one of the message first went out.
CREATE TABLE requests (
  message bigint PRIMARY KEY,
  attempt int NOT NULL,
  first_at bigint NOT NULL,
  sealed bytea NOT NULL
);

-- mark_2, with the requests of the attempts in base64.
CREATE FUNCTION mark_3(p_now bigint, p_items json) RETURNS SETOF bigint LANGUAGE plpgsql :planned AS $$
DECLARE
  marked bigint[] := ARRAY(SELECT mark_2(p_now, p_items));
BEGIN
  -- The carrier may have known the key since the first attempt.
  INSERT INTO requests AS r (message, attempt, first_at, sealed)
  SELECT i.seq, i.attempt, time_1(p_now), decode(i.request, 'base64')
  FROM json_to_recordset(p_items) AS i(seq bigint, attempt int, request text)
  WHERE i.request IS NOT NULL AND i.seq = ANY (marked)
  ON CONFLICT (message) DO UPDATE SET attempt = excluded.attempt, sealed = excluded.sealed,
    first_at = least(r.first_at, excluded.first_at);
  RETURN QUERY SELECT unnest(marked);
END $$;

-- Marks the repeat of a request; null where it may not go out.
CREATE FUNCTION mark_repeat_1(p_now bigint, p_seq bigint, p_id text, p_token text, p_attempt int, p_within_ms bigint)
RETURNS bytea LANGUAGE plpgsql :planned AS $$
DECLARE
  at bigint;
  request bytea;
BEGIN
  :durable;
  IF hold_reason_1() IS NOT NULL THEN RETURN NULL; END IF;
  PERFORM 1 FROM leases l WHERE l.token = p_token AND p_seq = ANY (l.messages) FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM 1 FROM messages m WHERE m.seq = p_seq AND m.id || '' = p_id AND m.status = 'queued' AND m.route IS NOT NULL
    AND m.attempts = p_attempt AND m.doubt_until IS NOT NULL AND m.lane NOT IN (SELECT p.lane FROM lane_pauses p)
    FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  at := time_1(p_now);
  IF is_resetting_1(at) THEN RETURN NULL; END IF;
  UPDATE requests r SET attempt = p_attempt + 1
  WHERE r.message = p_seq AND r.attempt = p_attempt AND at - r.first_at BETWEEN -:tolerance AND p_within_ms
  RETURNING r.sealed INTO request;
  IF FOUND THEN UPDATE messages SET attempts = p_attempt + 1 WHERE seq = p_seq; END IF;
  RETURN request;
END $$;

-- Takes messages out of leases; one that is empty ends, and so do the requests of messages that have. Its arguments
-- stay, so that the release before calls it.
CREATE OR REPLACE FUNCTION leave_1(p_tokens text[], p_seqs bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  lease record;
  emptied text[] := '{}';
BEGIN
  FOR lease IN SELECT l.token, array_agg(s.seq) FILTER (WHERE g.seq IS NULL) AS stay
    FROM leases l CROSS JOIN LATERAL unnest(l.messages) AS s(seq) LEFT JOIN rows_1(p_seqs) AS g(seq) ON g.seq = s.seq
    WHERE l.token = ANY (p_tokens) GROUP BY l.token HAVING count(g.seq) > 0
  LOOP
    IF lease.stay IS NULL THEN emptied := emptied || lease.token;
    ELSE UPDATE leases SET messages = lease.stay WHERE token = lease.token;
    END IF;
  END LOOP;
  DELETE FROM leases WHERE token = ANY (emptied);
  DELETE FROM requests r WHERE r.message = ANY (p_seqs)
    AND (SELECT m.status FROM messages m WHERE m.seq = r.message) <> 'queued';
END $$;
