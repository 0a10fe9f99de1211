-- Rates that carriers throttle, and what they answered messages that they put off.

-- The share of the rate that was left when it was lowered; it grows back.
ALTER TABLE route_rates ADD COLUMN factor double precision NOT NULL DEFAULT 1;
ALTER TABLE route_rates ADD COLUMN lowered_at double precision NOT NULL DEFAULT 0;

-- As factorAt.
CREATE FUNCTION factor_1(p_factor double precision, p_lowered_at double precision, p_at double precision)
RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
  SELECT least(1, p_factor + greatest(0, p_at - p_lowered_at) / 1000 * 0.1)
$$;

-- Takes permits of a rate as takePermits does. p_block_ms: of a block, and how far ahead.
CREATE FUNCTION take_turns_2(p_now bigint, p_route text, p_per_second double precision, p_wanted int,
  p_block_ms double precision)
RETURNS TABLE (granted int, wait_ms double precision, factor double precision) LANGUAGE plpgsql :planned AS $$
DECLARE
  rate route_rates;
  at double precision;
  start double precision;
  each double precision;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '2s', true);
  INSERT INTO route_rates (route, next_at) VALUES (p_route, 0) ON CONFLICT DO NOTHING;
  SELECT * INTO rate FROM route_rates r WHERE r.route = p_route FOR NO KEY UPDATE;
  -- In fractions: whole milliseconds would cost a fast rate its turns.
  at := coalesce(p_now, extract(epoch FROM clock_timestamp()) * 1000);
  factor := factor_1(rate.factor, rate.lowered_at, at);
  each := 1000 / (p_per_second * factor);
  start := least(greatest(rate.next_at, at), at + p_block_ms + greatest(p_block_ms, each));
  granted := CASE WHEN start > at + p_block_ms THEN 0
    ELSE least(p_wanted, greatest(1, floor(p_block_ms / each)::int)) END;
  wait_ms := CASE WHEN granted = 0 THEN start - at - p_block_ms ELSE start - at END;
  -- Lowered in the future: the clock was set back.
  UPDATE route_rates r SET next_at = start + granted * each, lowered_at = least(r.lowered_at, at)
  WHERE r.route = p_route;
  RETURN NEXT;
END $$;

-- Lowers a rate as lower does: the share that is left.
CREATE FUNCTION lower_rate_1(p_now bigint, p_route text, p_per_second double precision, p_answered_ms double precision)
RETURNS double precision LANGUAGE plpgsql :planned AS $$
DECLARE
  rate route_rates;
  at double precision;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '2s', true);
  INSERT INTO route_rates (route, next_at) VALUES (p_route, 0) ON CONFLICT DO NOTHING;
  SELECT * INTO rate FROM route_rates r WHERE r.route = p_route FOR NO KEY UPDATE;
  at := coalesce(p_now, extract(epoch FROM clock_timestamp()) * 1000);
  IF rate.lowered_at > at - p_answered_ms AND rate.lowered_at <= at THEN
    RETURN factor_1(rate.factor, rate.lowered_at, at);
  END IF;
  UPDATE route_rates r SET lowered_at = at,
    factor = greatest(factor_1(r.factor, r.lowered_at, at) / 2, least(1, 1 / p_per_second))
  WHERE r.route = p_route RETURNING r.factor INTO rate.factor;
  RETURN rate.factor;
END $$;

-- Claims what has waited for its bound, and what is due whose bound is p_before_ms away or nearer.
CREATE FUNCTION claim_overdue_1(p_now bigint, p_token text, p_lease_ms bigint, p_limit int, p_lane text, p_class int,
  p_before_ms bigint, p_window bigint, p_most int)
RETURNS SETOF claimed_1 LANGUAGE plpgsql :planned AS $$
#variable_conflict use_column
DECLARE
  at bigint := time_1(p_now);
  seqs bigint[];
BEGIN
  :durable;
  IF is_resetting_1(at) OR hold_reason_1() IS NOT NULL THEN RETURN; END IF;
  PERFORM bring_forward_1(p_lane, p_class, p_limit, at);
  WITH found AS MATERIALIZED (
    SELECT ctid FROM queue
    WHERE lane = p_lane AND class = p_class AND bound_at <= at + p_before_ms AND (due_at <= at OR bound_at <= at)
    ORDER BY bound_at, message LIMIT p_limit FOR UPDATE SKIP LOCKED
  ), gone AS (
    DELETE FROM queue q WHERE q.ctid = ANY (ARRAY(SELECT f.ctid FROM found f)) RETURNING q.due_at, q.message
  )
  SELECT array_agg(g.message ORDER BY g.due_at, g.message) INTO seqs
  FROM gone g CROSS JOIN LATERAL (SELECT m.status, m.route FROM messages m WHERE m.seq = g.message OFFSET 0) m
  WHERE m.status = 'queued' AND m.route IS NULL;
  IF seqs IS NULL THEN RETURN; END IF;
  INSERT INTO leases (token, until, length, messages) VALUES (p_token, at + p_lease_ms, p_lease_ms, seqs);
  RETURN QUERY SELECT * FROM read_claimed_1(seqs, at, p_window, p_most);
END $$;

-- The answers that put it off, the newest last; equal ones that follow each other are one, with their number.
ALTER TABLE messages ADD COLUMN tried jsonb;

CREATE FUNCTION tried_1(p_tried jsonb, p_answer jsonb, p_at bigint) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  runs jsonb := coalesce(p_tried, '[]');
  last jsonb := runs -> -1;
BEGIN
  IF last - ARRAY['at', 'until', 'times'] = p_answer THEN
    RETURN jsonb_set(runs, ARRAY[(jsonb_array_length(runs) - 1)::text],
      last || jsonb_build_object('until', p_at, 'times', (last ->> 'times')::int + 1));
  END IF;
  runs := runs || jsonb_build_array(p_answer || jsonb_build_object('at', p_at, 'until', p_at, 'times', 1));
  RETURN CASE WHEN jsonb_array_length(runs) > :most_runs THEN runs - 0 ELSE runs END;
END $$;

-- Of messages that the caller has put off or ended.
CREATE FUNCTION record_answers_1(p_now bigint, p_items json, p_seqs bigint[]) RETURNS void
LANGUAGE plpgsql :planned AS $$
BEGIN
  :durable;
  UPDATE messages m SET tried = tried_1(m.tried, i.answer, time_1(p_now))
  FROM json_to_recordset(p_items) AS i(seq bigint, answer jsonb)
  WHERE m.seq = i.seq AND m.seq = ANY (p_seqs) AND i.answer IS NOT NULL;
END $$;

-- postpone_1, with answers.
CREATE FUNCTION postpone_2(p_now bigint, p_items json) RETURNS void LANGUAGE plpgsql :planned AS $$
DECLARE
  items held_1[];
  seqs bigint[];
BEGIN
  SELECT array_agg(i) INTO items FROM json_populate_recordset(NULL::held_1, p_items) i;
  PERFORM lock_leases_1(ARRAY(SELECT i.token FROM unnest(items) i), ARRAY(SELECT i.seq FROM unnest(items) i));
  seqs := ARRAY(SELECT standing_1(items));
  PERFORM postpone_1(p_now, p_items);
  PERFORM record_answers_1(p_now, p_items, seqs);
END $$;
