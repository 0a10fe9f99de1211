-- Quiet hours: which messages wait in them, and for which projects.

CREATE INDEX projects_quiet ON projects (seq) WHERE strpos(settings, :with_quiet_hours) > 0;

-- For a process, which computes the hours; null for none.
CREATE FUNCTION quiet_projects_1() RETURNS json LANGUAGE plpgsql :planned AS $$
BEGIN
  RETURN (SELECT json_agg(json_build_object('seq', p.seq, 'id', p.id, 'settings', p.settings)) FROM projects p
    WHERE strpos(p.settings, :with_quiet_hours) > 0);
END $$;

-- Projects that are quiet now. A process computes the hours, and says of the projects that it knows since and until when
-- they are not quiet. Of whichever it knows nothing, or other hours, it is quiet.
CREATE FUNCTION quiet_now_1(p_openings json, p_at bigint) RETURNS int[] LANGUAGE plpgsql AS $$
BEGIN
  RETURN ARRAY(SELECT p.seq FROM projects p
      LEFT JOIN json_to_recordset(p_openings) AS o(project int, hours text, since bigint, until bigint) ON o.project = p.seq
    WHERE strpos(p.settings, :with_quiet_hours) > 0 AND NOT coalesce(p_at >= o.since AND p_at < o.until
      AND o.hours = concat(p.settings::json ->> 'quiet_hours', ' ', p.settings::json ->> 'quiet_zone'), false));
END $$;

-- p_limits: by project, the most that it may get; nothing where it is quiet.
CREATE FUNCTION claim_3(p_now bigint, p_token text, p_lease_ms bigint, p_limit int, p_lane text, p_class int,
  p_limits json, p_window bigint, p_most int, p_openings json)
RETURNS SETOF claimed_2 LANGUAGE plpgsql :in_order AS $$
#variable_conflict use_column
DECLARE
  at bigint := time_1(p_now);
  seqs bigint[] := '{}';
  taken bigint[];
  quiet int[] := CASE WHEN p_class = 1 THEN quiet_now_1(p_openings, at) ELSE '{}' END;
  limits jsonb := (SELECT coalesce(jsonb_object_agg(p.seq, l.value::int), '{}')
    FROM json_each_text(p_limits) l JOIN projects p ON p.id = l.key);
  -- By project; 0 for those of the lane.
  turned jsonb := '{}';
  turn turns;
  due record;
  dealt record;
  of_batches record;
  wanted int := p_limit;
  most int;
  passed int := 0;
BEGIN
  :durable;
  IF is_resetting_1(at) OR hold_reason_1() IS NOT NULL THEN RETURN; END IF;
  PERFORM bring_forward_1(p_lane, p_class, p_limit, at);
  IF quiet <> '{}' THEN limits := limits || (SELECT jsonb_object_agg(s, 0) FROM unnest(quiet) s); END IF;
  WHILE wanted > 0 LOOP
    turn := turn_1(p_lane, p_class, 0, turned);
    most := least(wanted, :most_projects) + 1;
    SELECT array_agg(d.project::bigint) AS projects, array_agg(d.batch) AS batches, array_agg(d.is_only) AS are_only
    INTO due FROM due_projects_1(p_lane, p_class, at, turn.next,
      ARRAY(SELECT l.key::int FROM jsonb_each_text(limits) l WHERE l.value = '0'), most) d;
    EXIT WHEN due.projects IS NULL;
    SELECT * INTO dealt FROM deal_1(turn, due.projects, wanted);
    wanted := (SELECT sum(s) FROM unnest(dealt.shares) s);
    -- Where there is but one, nothing need be remembered.
    IF cardinality(due.projects) > 1 THEN
      turned := turned || jsonb_build_object(0, to_jsonb(dealt.turn));
    END IF;
    IF limits <> '{}' THEN
      dealt.shares := ARRAY(SELECT least(d.share, (limits ->> d.project::text)::int)
        FROM unnest(due.projects, dealt.shares) d(project, share));
    END IF;
    WITH gone AS (
      DELETE FROM queue q WHERE q.ctid = ANY (ARRAY(
        SELECT t.ctid FROM unnest(due.projects, due.batches, due.are_only, dealt.shares) d(project, batch, is_only, share)
          CROSS JOIN LATERAL (SELECT w.ctid FROM queue w
            WHERE w.lane = p_lane AND w.class = p_class AND (w.project, w.batch) >= (d.project, d.batch)
              AND (w.project, w.batch, w.due_at) <= (d.project, d.batch, at)
            ORDER BY w.project, w.batch, w.due_at, w.message LIMIT d.share FOR UPDATE SKIP LOCKED) t
        WHERE d.is_only))
      RETURNING q.project, q.due_at, q.message
    )
    SELECT array_agg(g.message ORDER BY g.project, g.due_at, g.message) INTO taken FROM gone g;
    IF false = ANY (due.are_only) THEN
      FOR place IN 1 .. cardinality(due.projects) LOOP
        CONTINUE WHEN due.are_only[place] OR dealt.shares[place] = 0;
        SELECT * INTO of_batches FROM take_of_batches_1(p_lane, at, due.projects[place], dealt.shares[place], turned);
        turned := of_batches.turned;
        taken := taken || of_batches.taken;
      END LOOP;
    END IF;
    IF coalesce(taken, '{}') = '{}' THEN
      -- Others have just locked all of it.
      passed := passed + cardinality(due.projects);
      EXIT WHEN cardinality(due.projects) < most OR passed > :most_passed;
    END IF;
    seqs := seqs || taken;
    wanted := wanted - coalesce(cardinality(taken), 0);
    IF limits <> '{}' THEN
      limits := (SELECT jsonb_object_agg(l.key, l.value::int - (SELECT count(*) FROM messages m
          WHERE m.seq = ANY (taken) AND m.project = l.key::int)) FROM jsonb_each_text(limits) l);
    END IF;
  END LOOP;
  seqs := ARRAY(SELECT m.seq FROM unnest(seqs) WITH ORDINALITY s(seq, ord)
    CROSS JOIN LATERAL (SELECT m.seq, m.status, m.route FROM messages m WHERE m.seq = s.seq OFFSET 0) m
    WHERE m.status = 'queued' AND m.route IS NULL ORDER BY s.ord);
  IF seqs = '{}' THEN RETURN; END IF;
  INSERT INTO leases (token, until, length, messages) VALUES (p_token, at + p_lease_ms, p_lease_ms, seqs);
  RETURN QUERY SELECT c.*, CASE WHEN c.seq = seqs[1] AND turned <> '{}'
      THEN (SELECT json_agg(t.value) FROM jsonb_each(turned) t) END
    FROM read_claimed_1(seqs, at, p_window, p_most) c;
END $$;

-- Of items to be marked those that may be sent now: all, or all but messages of lists in projects that are quiet.
CREATE FUNCTION awake_1(p_now bigint, p_items json, p_openings json) RETURNS json LANGUAGE plpgsql :planned AS $$
DECLARE
  quiet int[] := quiet_now_1(p_openings, time_1(p_now));
BEGIN
  IF quiet = '{}' THEN RETURN p_items; END IF;
  RETURN (SELECT coalesce(json_agg(i), '[]') FROM json_array_elements(p_items) i
    WHERE NOT EXISTS (SELECT 1 FROM messages m
      WHERE m.seq = (i ->> 'seq')::bigint AND m.project = ANY (quiet) AND :waits_in_quiet_hours));
END $$;

-- mark_repeat_1, but not in quiet hours: whoever has no answer may not have got it.
CREATE FUNCTION mark_repeat_2(p_now bigint, p_seq bigint, p_id text, p_token text, p_attempt int, p_within_ms bigint,
  p_openings json)
RETURNS bytea LANGUAGE plpgsql :planned AS $$
DECLARE
  quiet int[] := quiet_now_1(p_openings, time_1(p_now));
BEGIN
  IF quiet <> '{}' AND EXISTS (SELECT 1 FROM messages m WHERE m.seq = p_seq AND m.project = ANY (quiet)
    AND :waits_in_quiet_hours) THEN RETURN NULL; END IF;
  RETURN mark_repeat_1(p_now, p_seq, p_id, p_token, p_attempt, p_within_ms);
END $$;

-- work_1 without what waits in quiet hours. Meanwhile, the rest is looked up again and again.
CREATE FUNCTION work_2(p_now bigint, p_lanes text[], p_connected_ms bigint, p_openings json)
RETURNS TABLE (class int, wait bigint, overdue bigint, leases bigint) LANGUAGE plpgsql :planned AS $$
#variable_conflict use_column
DECLARE
  at bigint := time_1(p_now);
  quiet int[] := quiet_now_1(p_openings, at);
BEGIN
  IF quiet = '{}' THEN
    RETURN QUERY SELECT w.* FROM work_1(p_now, p_lanes, p_connected_ms) w;
    RETURN;
  END IF;
  RETURN QUERY SELECT w.class, CASE WHEN w.class = 1 AND w.wait IS NOT NULL THEN greatest(w.wait, :look_again) ELSE w.wait END,
    w.overdue, w.leases FROM work_1(p_now, p_lanes, p_connected_ms) w;
  RETURN QUERY SELECT 1, 0::bigint, NULL::bigint, NULL::bigint FROM unnest(p_lanes) AS l(lane)
    WHERE hold_reason_1() IS NULL AND EXISTS (SELECT 1 FROM due_projects_1(l.lane, 1, at, 0, quiet, 1));
END $$;

CREATE FUNCTION has_due_2(p_now bigint, p_openings json) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  at bigint := time_1(p_now);
  quiet int[] := quiet_now_1(p_openings, at);
BEGIN
  RETURN EXISTS (SELECT 1 FROM leases)
    OR (hold_reason_1() IS NULL AND EXISTS (SELECT 1 FROM queue q
      WHERE (q.due_at <= at OR q.queued_at > at + :tolerance) AND NOT (q.class = 1 AND q.project = ANY (quiet))));
END $$;
