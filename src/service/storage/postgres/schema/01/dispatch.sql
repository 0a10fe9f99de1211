-- Claims, marks, doubts and leases. All lock in one order: projects, leases by token, messages by number; so no two of
-- them wait for each other.

-- earlier: of a batch's message, as the caps need it. bound_ms, life_ms and doubt_left_ms: from now.
CREATE TYPE claimed_1 AS (
  seq bigint, id text, project text, batch text, content bigint, channel text, recipient text, operator text, parts int,
  rate_multiplier double precision, credits bigint, created_at bigint, attempts int, pending_key text, lane text,
  route text, tries int, bound_ms bigint, life_ms bigint, doubt_left_ms bigint, is_stopped boolean, earlier bigint[]
);

CREATE FUNCTION read_claimed_1(p_seqs bigint[], p_at bigint, p_window bigint, p_most int) RETURNS SETOF claimed_1
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  base int := (SELECT h.releases * :attempts_a_release FROM hold h);
BEGIN
  RETURN QUERY SELECT m.seq, m.id, p.id, b.id, m.content, m.channel, m.recipient, m.operator, m.parts,
    m.rate_multiplier, m.credits, m.created_at,
    CASE WHEN m.route IS NULL AND m.attempts < base THEN base + m.attempts ELSE m.attempts END, m.pending_key, m.lane, m.route, m.tries,
    m.bound_at - m.created_at - greatest(0, p_at - m.created_at), v.life_ms - greatest(0, p_at - m.created_at),
    least(m.doubt_until - p_at, m.doubt_ms), b.stopped_at IS NOT NULL,
    CASE WHEN m.batch IS NOT NULL THEN
      earlier_1(m.project, m.recipient, m.created_at - p_window, m.seq, p_most) END
  FROM unnest(p_seqs) WITH ORDINALITY s(seq, ord)
    CROSS JOIN LATERAL (SELECT * FROM messages m WHERE m.seq = s.seq OFFSET 0) m
    JOIN projects p ON p.seq = m.project
    LEFT JOIN LATERAL (SELECT * FROM batches b WHERE b.seq = m.batch OFFSET 0) b ON true
    LEFT JOIN LATERAL (SELECT * FROM verifications v WHERE v.message = m.seq OFFSET 0) v ON true
  ORDER BY s.ord;
END $$;

CREATE FUNCTION claim_1(p_now bigint, p_token text, p_lease_ms bigint, p_limit int, p_lane text, p_class int,
  p_only_overdue boolean, p_window bigint, p_most int)
RETURNS SETOF claimed_1 LANGUAGE plpgsql :planned AS $$
#variable_conflict use_column
DECLARE
  at bigint := time_1(p_now);
  seqs bigint[];
BEGIN
  :durable;
  IF is_resetting_1(at) OR hold_reason_1() IS NOT NULL THEN RETURN; END IF;
  -- What was queued in the future was queued before the clock was set back, and is due.
  UPDATE queue SET due_at = at, queued_at = at
  WHERE ctid = ANY (ARRAY(
    SELECT far.ctid FROM (
      (SELECT ctid, queued_at FROM queue WHERE lane = p_lane AND class = p_class AND due_at > at + :first_delay
        ORDER BY due_at DESC LIMIT p_limit)
      UNION ALL
      (SELECT ctid, queued_at FROM queue WHERE lane = p_lane AND class = p_class AND due_at > at + :first_delay
        ORDER BY due_at LIMIT 1)) far
    WHERE far.queued_at > at + :tolerance));
  IF p_only_overdue THEN
    WITH found AS MATERIALIZED (
      SELECT ctid FROM queue WHERE lane = p_lane AND class = p_class AND bound_at <= at
      ORDER BY bound_at, message LIMIT p_limit FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM queue q WHERE q.ctid = ANY (ARRAY(SELECT f.ctid FROM found f)) RETURNING q.due_at, q.message
    )
    SELECT array_agg(g.message ORDER BY g.due_at, g.message) INTO seqs
    FROM gone g CROSS JOIN LATERAL (SELECT m.status, m.route FROM messages m WHERE m.seq = g.message OFFSET 0) m
    WHERE m.status = 'queued' AND (m.route IS NOT NULL) = (p_class = 2);
  ELSE
    WITH found AS MATERIALIZED (
      SELECT ctid FROM queue WHERE lane = p_lane AND class = p_class AND due_at <= at
      ORDER BY due_at, message LIMIT p_limit FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM queue q WHERE q.ctid = ANY (ARRAY(SELECT f.ctid FROM found f)) RETURNING q.due_at, q.message
    )
    SELECT array_agg(g.message ORDER BY g.due_at, g.message) INTO seqs
    FROM gone g CROSS JOIN LATERAL (SELECT m.status, m.route FROM messages m WHERE m.seq = g.message OFFSET 0) m
    WHERE m.status = 'queued' AND (m.route IS NOT NULL) = (p_class = 2);
  END IF;
  IF seqs IS NULL THEN RETURN; END IF;
  INSERT INTO leases (token, until, length, messages) VALUES (p_token, at + p_lease_ms, p_lease_ms, seqs);
  RETURN QUERY SELECT * FROM read_claimed_1(seqs, at, p_window, p_most);
END $$;

CREATE FUNCTION renew_1(p_now bigint, p_tokens text[], p_lease_ms bigint) RETURNS SETOF text
LANGUAGE plpgsql :planned AS $$
BEGIN
  :durable;
  PERFORM 1 FROM leases WHERE token = ANY (p_tokens) ORDER BY token FOR NO KEY UPDATE;
  RETURN QUERY UPDATE leases SET until = time_1(p_now) + p_lease_ms, length = p_lease_ms
    WHERE token = ANY (p_tokens) RETURNING token;
END $$;

-- What is known of a message by its holder: of its lease, and of its mark.
CREATE TYPE held_1 AS (seq bigint, id text, token text, attempt int, route text, doubt_ms bigint, delay_ms bigint,
  is_try boolean, lane text);

-- Locks the leases of messages: those of their holders, and those of who looks into a doubt about them.
CREATE FUNCTION lock_leases_1(p_tokens text[], p_seqs bigint[]) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  doubtful bigint[] := ARRAY(SELECT m.seq FROM messages m WHERE m.seq = ANY (p_seqs) AND m.doubt_until IS NOT NULL);
  tokens text[] := p_tokens;
BEGIN
  IF doubtful <> '{}' THEN
    tokens := tokens || ARRAY(SELECT l.token FROM leases l WHERE l.messages && doubtful);
  END IF;
  PERFORM 1 FROM leases l WHERE l.token = ANY (tokens) ORDER BY l.token FOR NO KEY UPDATE;
  PERFORM 1 FROM messages m WHERE m.seq = ANY (p_seqs) ORDER BY m.seq FOR NO KEY UPDATE;
  RETURN tokens;
END $$;

-- What is still in the lease of its holder. Within coalesce it is hashed and no join, each with each.
CREATE FUNCTION leased_1(p_items held_1[]) RETURNS bigint[] LANGUAGE plpgsql AS $$
BEGIN
  RETURN ARRAY(SELECT i.seq FROM unnest(p_items) i WHERE coalesce((i.token, i.seq) IN (
    SELECT l.token, s.seq FROM leases l CROSS JOIN LATERAL unnest(l.messages) AS s(seq)
    WHERE l.token = ANY (ARRAY(SELECT j.token FROM unnest(p_items) j))), false));
END $$;

-- Clears marks whose answer was lost, and from which nothing was submitted. Only in their lease: another may have marked
-- the same attempt since.
CREATE FUNCTION unmark_1(p_items json) RETURNS void LANGUAGE plpgsql :planned AS $$
DECLARE
  items held_1[];
  leased bigint[];
BEGIN
  :durable;
  SELECT array_agg(i) INTO items FROM json_populate_recordset(NULL::held_1, p_items) i;
  PERFORM lock_leases_1(ARRAY(SELECT i.token FROM unnest(items) i), ARRAY(SELECT i.seq FROM unnest(items) i));
  leased := leased_1(items);
  UPDATE messages m SET route = NULL, doubt_ms = NULL
  FROM rows_1(items) i WHERE m.seq = i.seq AND m.seq = ANY (leased) AND m.id || '' = i.id
    AND m.status = 'queued' AND m.attempts = i.attempt;
END $$;

-- Whose fence still stands: of a marked message its attempt, of another its lease. Their rows are locked.
CREATE FUNCTION standing_1(p_items held_1[]) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
DECLARE
  leased bigint[] := leased_1(ARRAY(SELECT i FROM unnest(p_items) i WHERE i.attempt IS NULL));
BEGIN
  RETURN QUERY SELECT m.seq FROM unnest(p_items) i
    CROSS JOIN LATERAL (SELECT * FROM messages m WHERE m.seq = i.seq OFFSET 0) m
    WHERE m.id = i.id AND m.status = 'queued' AND CASE WHEN i.attempt IS NOT NULL
      THEN m.route IS NOT NULL AND m.attempts = i.attempt
      ELSE m.route IS NULL AND coalesce(i.seq IN (SELECT unnest(leased)), false) END;
END $$;

-- Removes doubts that wait from the queue. Returns the leases of those that were claimed, which are locked: their claims
-- may have been committed since the leases were locked.
CREATE FUNCTION unqueue_doubts_1(p_seqs bigint[]) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  doubtful bigint[] := ARRAY(SELECT m.seq FROM messages m WHERE m.seq = ANY (p_seqs) AND m.doubt_until IS NOT NULL);
  tokens text[];
BEGIN
  IF doubtful = '{}' THEN RETURN '{}'; END IF;
  DELETE FROM queue q USING messages m
  WHERE m.seq = ANY (doubtful) AND q.lane = m.lane AND q.class = 2 AND q.message = m.seq;
  tokens := ARRAY(SELECT l.token FROM leases l WHERE l.messages && doubtful);
  PERFORM 1 FROM leases l WHERE l.token = ANY (tokens) ORDER BY l.token FOR NO KEY UPDATE;
  RETURN tokens;
END $$;

CREATE FUNCTION doubt_1(p_now bigint, p_items json) RETURNS void LANGUAGE plpgsql :planned AS $$
DECLARE
  items held_1[];
  seqs bigint[];
  tokens text[];
  at bigint;
BEGIN
  :durable;
  SELECT array_agg(i) INTO items FROM json_populate_recordset(NULL::held_1, p_items) i WHERE i.attempt IS NOT NULL;
  IF items IS NULL THEN RETURN; END IF;
  tokens := lock_leases_1(ARRAY(SELECT i.token FROM unnest(items) i), ARRAY(SELECT i.seq FROM unnest(items) i));
  seqs := ARRAY(SELECT standing_1(items));
  at := time_1(p_now);
  tokens := tokens || unqueue_doubts_1(seqs);
  UPDATE messages m SET doubt_until = coalesce(m.doubt_until, at + m.doubt_ms) WHERE m.seq = ANY (seqs);
  INSERT INTO queue (lane, class, due_at, message, queued_at, bound_at)
  SELECT m.lane, 2, at + i.delay_ms, m.seq, at, m.bound_at
  FROM unnest(items) i CROSS JOIN LATERAL (SELECT * FROM messages m WHERE m.seq = i.seq OFFSET 0) m
  WHERE coalesce(i.seq IN (SELECT unnest(seqs)), false);
  PERFORM leave_1(tokens, seqs);
END $$;

-- Says of accepted messages, whose acceptance was never known to their process, that nobody has submitted them.
CREATE FUNCTION disown_1(p_now bigint, p_projects text[], p_ids text[]) RETURNS void LANGUAGE plpgsql :planned AS $$
DECLARE
  items held_1[];
BEGIN
  :durable;
  -- The acceptance may still be committing.
  PERFORM 1 FROM projects WHERE id = ANY (p_projects) ORDER BY seq FOR NO KEY UPDATE;
  SELECT array_agg((m.seq, m.id, l.token, 1, NULL, NULL, 0, false, m.lane)::held_1) INTO items
  FROM messages m LEFT JOIN leases l ON m.seq = ANY (l.messages)
  WHERE m.id = ANY (p_ids) AND m.status = 'queued' AND m.attempts = 1 AND m.route IS NOT NULL;
  IF items IS NOT NULL THEN PERFORM postpone_1(p_now, to_json(items)); END IF;
END $$;

-- When there is something to do, in milliseconds from now, by lane and class.
CREATE FUNCTION work_1(p_now bigint, p_lanes text[], p_connected_ms bigint)
RETURNS TABLE (class int, wait bigint, overdue bigint, leases bigint) LANGUAGE plpgsql :planned AS $$
#variable_conflict use_column
DECLARE
  at bigint := time_1(p_now);
  -- Nothing can be claimed.
  open_lanes text[] := CASE WHEN hold_reason_1() IS NULL THEN p_lanes ELSE '{}' END;
BEGIN
  RETURN QUERY SELECT c.class, CASE WHEN f.queued_at > at + :tolerance THEN 0 ELSE f.due_at - at END,
    o.bound_at - at, NULL::bigint
  FROM unnest(open_lanes) AS l(lane) CROSS JOIN (VALUES (0), (1), (2)) AS c(class)
    LEFT JOIN LATERAL (SELECT q.due_at, q.queued_at FROM queue q WHERE q.lane = l.lane AND q.class = c.class
      ORDER BY q.due_at LIMIT 1) f ON true
    LEFT JOIN LATERAL (SELECT q.bound_at FROM queue q WHERE q.lane = l.lane AND q.class = c.class AND c.class < 2
      ORDER BY q.bound_at LIMIT 1) o ON true;
  RETURN QUERY SELECT NULL::int, NULL::bigint, NULL::bigint, min(CASE
      WHEN e.until > at + e.length + :lease_tolerance THEN 0
      ELSE greatest(e.until - at, e.length - p_connected_ms) END)
    FROM leases e;
END $$;

CREATE TYPE finalization_1 AS (
  seq bigint, id text, token text, attempt int, project text, status text, error_code text, error_message text,
  credits bigint, delivery text, route text, recipient text, carrier_ids text[], key text, key_status int, head text,
  tail text, has_balance boolean, is_encrypted boolean
);
