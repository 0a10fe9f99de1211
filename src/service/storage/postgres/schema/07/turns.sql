-- Claims in turn. What is due is looked up in the queue itself, and only the place in the round is remembered, by a
-- statement of its own after the claim: whoever pauses in a claim keeps nobody's turn.

-- What was queued in the future was queued before the clock was set back, and is due.
CREATE FUNCTION bring_forward_1(p_lane text, p_class int, p_limit int, p_at bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE queue SET due_at = p_at, queued_at = p_at
  WHERE ctid = ANY (ARRAY(
    -- Claims that come together would wait for each other, in circles.
    SELECT q.ctid FROM queue q WHERE q.ctid = ANY (ARRAY(
      SELECT far.ctid FROM (
        (SELECT ctid, queued_at FROM queue WHERE lane = p_lane AND class = p_class AND due_at > p_at + :first_delay
          ORDER BY due_at DESC LIMIT p_limit)
        UNION ALL
        (SELECT ctid, queued_at FROM queue WHERE lane = p_lane AND class = p_class AND due_at > p_at + :first_delay
          ORDER BY due_at LIMIT 1)) far
      WHERE far.queued_at > p_at + :tolerance))
    FOR UPDATE SKIP LOCKED));
END $$;

-- Projects with something due, from one on and around, up to p_most. batch: the first that is due; is_only: there is none
-- behind it. A step for each project, and for each batch that is not due; not one for each message.
CREATE FUNCTION due_projects_1(p_lane text, p_class int, p_at bigint, p_from bigint, p_without int[], p_most int)
RETURNS TABLE (project int, batch bigint, is_only boolean) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  first bigint := p_from;
  below bigint := 2147483647;
  found_rows int;
  left_rows int := p_most;
BEGIN
  LOOP
    RETURN QUERY WITH RECURSIVE step AS (
      (SELECT q.project, q.batch, q.due_at FROM queue q
        WHERE q.lane = p_lane AND q.class = p_class AND q.project >= first
        ORDER BY q.project, q.batch, q.due_at LIMIT 1)
      UNION ALL
      SELECT n.* FROM step s CROSS JOIN LATERAL (
        SELECT q.project, q.batch, q.due_at FROM queue q
        WHERE q.lane = p_lane AND q.class = p_class AND (q.project, q.batch) >
          (s.project, CASE WHEN s.due_at <= p_at THEN 9223372036854775807 ELSE s.batch END)
        ORDER BY q.project, q.batch, q.due_at LIMIT 1) n
      WHERE s.project < below
    )
    SELECT s.project, s.batch, p_class = 0 OR s.project IS DISTINCT FROM (SELECT q.project FROM queue q
      WHERE q.lane = p_lane AND q.class = p_class AND (q.project, q.batch) > (s.project, s.batch)
      ORDER BY q.project, q.batch, q.due_at LIMIT 1)
    FROM step s WHERE s.due_at <= p_at AND s.project < below AND s.project <> ALL (p_without) LIMIT left_rows;
    GET DIAGNOSTICS found_rows = ROW_COUNT;
    left_rows := left_rows - found_rows;
    EXIT WHEN left_rows = 0 OR first = 0;
    below := first;
    first := 0;
  END LOOP;
END $$;

-- Whose turn it is: as this claim has changed it, or as it is remembered.
CREATE FUNCTION turn_1(p_lane text, p_class int, p_project bigint, p_turned jsonb) RETURNS turns LANGUAGE plpgsql AS $$
DECLARE
  turn turns;
BEGIN
  IF p_turned ? p_project::text THEN RETURN jsonb_populate_record(NULL::turns, p_turned -> p_project::text); END IF;
  SELECT * INTO turn FROM turns t WHERE t.lane = p_lane AND t.class = p_class AND t.project = p_project;
  IF NOT FOUND THEN RETURN (p_lane, p_class, p_project, 0, 0)::turns; END IF;
  RETURN turn;
END $$;

-- Deals messages out, as many to each project: their shares, and whose turn it is then, of one who had one less. Where
-- they are too many for a claim, it is the turn of so many of them, a slice each, and what is left over is nobody's.
CREATE FUNCTION deal_1(p_turn turns, p_projects bigint[], p_wanted int, OUT turn turns, OUT shares int[])
LANGUAGE plpgsql AS $$
DECLARE
  most int := least(p_wanted, :most_projects);
  are_all boolean := cardinality(p_projects) <= most;
  among int := CASE WHEN are_all THEN cardinality(p_projects) ELSE p_wanted / ceil(p_wanted::numeric / most)::int END;
  more int := CASE WHEN are_all THEN p_wanted % among ELSE 0 END;
BEGIN
  shares := ARRAY(SELECT CASE WHEN place > among THEN 0 ELSE p_wanted / among + (place <= more)::int END
    FROM generate_series(1, cardinality(p_projects)) place);
  turn := p_turn;
  turn.next := coalesce(p_projects[1 + CASE more WHEN 0 THEN among ELSE more END], p_projects[1]);
END $$;

-- Takes what is due of a project out of the queue, a slice of each of its batches in turn. Taken is what was deleted: what
-- another claim brought forward meanwhile is found, and stays.
CREATE FUNCTION take_of_batches_1(p_lane text, p_at bigint, p_project bigint, p_wanted int, INOUT turned jsonb,
  OUT taken bigint[]) LANGUAGE plpgsql AS $$
DECLARE
  turn turns := turn_1(p_lane, 1, p_project, turned);
  place bigint := turn.next;
  is_whole_round boolean := place = 0;
  before int := 0;
  used int;
  first record;
  messages bigint[];
BEGIN
  taken := '{}';
  LOOP
    SELECT q.batch, q.due_at INTO first FROM queue q
    WHERE q.lane = p_lane AND q.class = 1 AND q.project = p_project AND q.batch >= place
    ORDER BY q.batch, q.due_at LIMIT 1;
    IF NOT FOUND THEN
      EXIT WHEN is_whole_round AND cardinality(taken) = before;
      place := 0;
      is_whole_round := true;
      before := cardinality(taken);
      CONTINUE;
    END IF;
    place := first.batch + 1;
    CONTINUE WHEN first.due_at > p_at;
    used := CASE WHEN first.batch = turn.next THEN turn.taken ELSE 0 END;
    WITH gone AS (
      DELETE FROM queue q WHERE q.ctid = ANY (ARRAY(SELECT w.ctid FROM queue w
        WHERE w.lane = p_lane AND w.class = 1 AND (w.project, w.batch) >= (p_project, first.batch)
          AND (w.project, w.batch, w.due_at) <= (p_project, first.batch, p_at)
        ORDER BY w.project, w.batch, w.due_at, w.message LIMIT least(p_wanted - cardinality(taken), :batch_slice - used)
        FOR UPDATE SKIP LOCKED))
      RETURNING q.due_at, q.message
    )
    SELECT array_agg(g.message ORDER BY g.due_at, g.message) INTO messages FROM gone g;
    CONTINUE WHEN messages IS NULL;
    taken := taken || messages;
    turn.next := first.batch;
    turn.taken := used + cardinality(messages);
    IF turn.taken = :batch_slice THEN
      turn.next := place;
      turn.taken := 0;
    END IF;
    EXIT WHEN cardinality(taken) = p_wanted;
  END LOOP;
  turned := turned || jsonb_build_object(p_project, to_jsonb(turn));
END $$;

-- claimed_1, and in its first row the turns that are to be remembered.
CREATE TYPE claimed_2 AS (
  seq bigint, id text, project text, batch text, content bigint, channel text, recipient text, operator text, parts int,
  rate_multiplier double precision, credits bigint, created_at bigint, attempts int, pending_key text, lane text,
  route text, tries int, bound_ms bigint, life_ms bigint, doubt_left_ms bigint, is_stopped boolean, earlier bigint[],
  turned json
);

CREATE FUNCTION remember_turns_1(p_turns json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '2s', true);
  INSERT INTO turns SELECT * FROM json_populate_recordset(NULL::turns, p_turns) t ORDER BY t.lane, t.class, t.project
  ON CONFLICT (lane, class, project) DO UPDATE SET next = excluded.next, taken = excluded.taken;
END $$;
