-- Projects, keys and verifications; admission; resets.

CREATE FUNCTION is_active_1(p_key keys, p_at bigint) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT p_key.revoked_at IS NULL AND (p_key.expires_at IS NULL OR p_key.expires_at > p_at)
$$;

-- Takes as many of p_count tokens as there are; gives when the bucket would have been full before.
CREATE FUNCTION take_1(p_project text, p_kind text, p_spacing double precision, p_burst int, p_count bigint,
  p_at bigint)
RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
  capacity double precision := p_spacing * p_burst;
  before double precision;
BEGIN
  INSERT INTO buckets (project, kind, full_at) VALUES (p_project, p_kind, p_at) ON CONFLICT DO NOTHING;
  SELECT full_at INTO before FROM buckets WHERE project = p_project AND kind = p_kind FOR NO KEY UPDATE;
  -- Further ahead than an empty bucket: the clock was set back, and it counts as empty.
  before := least(greatest(before, p_at), p_at + capacity);
  UPDATE buckets SET full_at = before + p_spacing * least(p_count, floor((p_at + capacity - before) / p_spacing))
  WHERE project = p_project AND kind = p_kind;
  RETURN before;
END $$;

CREATE TYPE admission_1 AS (hash text, project text, kind text, spacing double precision, burst int, key text);

CREATE TYPE caller_1 AS (
  ord int, project text, key_id text, scope text, has_answer boolean, status int, body text
);

-- The one call before requests: their callers, the answers bound to their keys, and when each bucket would have been
-- full before its tokens were taken. One without a spacing takes none; an unknown caller gets nothing.
CREATE FUNCTION admit_1(p_now bigint, p_items json) RETURNS TABLE (
  ord int, project text, key_id text, scope text, has_answer boolean, status int, body text, full_at double precision,
  at bigint, project_name text, settings text
) LANGUAGE plpgsql :planned AS $$
#variable_conflict use_column
DECLARE
  items admission_1[];
  callers caller_1[];
  wanted record;
  buckets jsonb := '{}';
  now_at bigint;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '2s', true);
  SELECT array_agg(i) INTO items FROM json_populate_recordset(NULL::admission_1, p_items) i;
  now_at := time_1(p_now);
  SELECT array_agg((i.ordinality, coalesce(i.project, p.id), k.id, k.scope, a.key IS NOT NULL, a.status,
    a.body)::caller_1)
  INTO callers FROM unnest(items) WITH ORDINALITY i
    LEFT JOIN keys k ON k.hash = decode(i.hash, 'hex') AND is_active_1(k, now_at)
    LEFT JOIN projects p ON p.seq = k.project
    LEFT JOIN projects own ON own.id = i.project
    LEFT JOIN idempotency a ON a.project = coalesce(own.seq, p.seq) AND a.key = i.key
  WHERE i.project IS NOT NULL OR p.id IS NOT NULL;
  FOR wanted IN SELECT c.project, i.kind, i.spacing, i.burst, count(*) AS count
    FROM unnest(callers) c JOIN unnest(items) WITH ORDINALITY i ON i.ordinality = c.ord
    WHERE i.spacing IS NOT NULL GROUP BY c.project, i.kind, i.spacing, i.burst ORDER BY c.project, i.kind
  LOOP
    buckets := buckets || jsonb_build_object(wanted.project || ' ' || wanted.kind,
      take_1(wanted.project, wanted.kind, wanted.spacing, wanted.burst, wanted.count, now_at));
  END LOOP;
  RETURN QUERY SELECT c.ord, c.project, c.key_id, c.scope, c.has_answer, c.status, c.body,
    (buckets ->> (c.project || ' ' || i.kind))::double precision, now_at, p.name, p.settings
  FROM unnest(callers) c JOIN unnest(items) WITH ORDINALITY i ON i.ordinality = c.ord
    LEFT JOIN projects p ON p.id = c.project ORDER BY c.ord;
END $$;

CREATE FUNCTION begin_reset_1(p_now bigint, p_owner text, p_hold_ms bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  at bigint;
BEGIN
  :durable;
  -- Waits for every acceptance that has not seen it.
  LOCK TABLE projects IN EXCLUSIVE MODE;
  at := time_1(p_now);
  IF is_resetting_1(at) AND NOT EXISTS (SELECT 1 FROM resets WHERE owner = p_owner) THEN RETURN false; END IF;
  DELETE FROM resets;
  INSERT INTO resets (owner, until) VALUES (p_owner, at + p_hold_ms);
  RETURN true;
END $$;
