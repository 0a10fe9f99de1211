import { durable, planned } from './shared.js';

/** The hold, begun by itself where the database is not the one that it was released in. */
export const holdTable = `
-- The place where the store was released last, and the timeline of its WAL there. written: the transaction that wrote
-- the row, which is its xmin unless the row came out of a dump. reason: of a hold that was begun by a call.
CREATE TABLE hold (
  one int PRIMARY KEY CHECK (one = 1),
  place text NOT NULL,
  timeline text NOT NULL,
  written bigint NOT NULL,
  reason text,
  releases int NOT NULL DEFAULT 0
);

-- The cluster and the database. Neither changes under a backend, and reading them takes five times as long as the rest.
CREATE FUNCTION place_1() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  place text := current_setting('urtuu.place', true);
BEGIN
  IF place IS NULL OR place = '' THEN
    place := (SELECT system_identifier FROM pg_control_system()) || ' '
      || (SELECT oid FROM pg_database WHERE datname = current_database());
    PERFORM set_config('urtuu.place', place, false);
  END IF;
  RETURN place;
END $$;

-- Of the current WAL: a checkpoint may name the one before for a while.
CREATE FUNCTION timeline_1() RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
$$;

CREATE FUNCTION transaction_1() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT pg_current_xact_id()::text::bigint % 4294967296
$$;

-- Why the store is held; null while it is not.
CREATE FUNCTION hold_reason_1() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN (SELECT CASE
      -- A dump that is still being loaded.
      WHEN h.one IS NULL THEN 'restored'
      WHEN h.reason IS NOT NULL THEN h.reason
      WHEN h.xmin::text::bigint <> h.written OR h.place <> place_1() THEN 'restored'
      WHEN h.timeline <> timeline_1() THEN 'failed_over' END
    FROM (SELECT 1) AS always LEFT JOIN hold h ON h.one = 1);
END $$;

-- p_reason: null to release it.
CREATE FUNCTION set_hold_1(p_reason text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO hold (one, place, timeline, written, reason)
  VALUES (1, place_1(), timeline_1(), transaction_1(), p_reason)
  ON CONFLICT (one) DO UPDATE SET place = excluded.place, timeline = excluded.timeline, written = excluded.written,
    reason = excluded.reason;
END $$;

-- Of a store that is new, and of one that was loaded without its hold.
CREATE FUNCTION open_hold_1() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  ${durable}
  INSERT INTO hold (one, place, timeline, written, reason)
  VALUES (1, place_1(), timeline_1(), transaction_1(), CASE WHEN EXISTS (SELECT 1 FROM messages) THEN 'restored' END)
  ON CONFLICT DO NOTHING;
END $$;
`;

export const holdFunctions = `
CREATE FUNCTION begin_hold_1(p_reason text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  ${durable}
  PERFORM set_hold_1(coalesce(hold_reason_1(), p_reason));
END $$;

CREATE FUNCTION count_unfinished_1() RETURNS TABLE (messages bigint, submitting bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT sum(u.messages)::bigint, sum(u.submitting)::bigint FROM (
    SELECT count(*) AS messages, count(*) FILTER (WHERE q.class = 2) AS submitting FROM queue q
    UNION ALL
    SELECT count(*), count(*) FILTER (WHERE m.route IS NOT NULL)
    FROM leases l CROSS JOIN LATERAL unnest(l.messages) AS s(seq) JOIN messages m ON m.seq = s.seq
    WHERE m.status = 'queued') u;
END $$;

-- Ends all leases: their holders cannot mark while the store is held. False where some are left for the next call.
CREATE FUNCTION end_held_leases_1(p_now bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  at bigint := time_1(p_now);
  ended leases;
BEGIN
  ${durable}
  IF hold_reason_1() IS NULL THEN RETURN true; END IF;
  FOR ended IN SELECT * FROM leases ORDER BY token FOR UPDATE LOOP
    PERFORM end_lease_1(ended, at);
    EXIT WHEN is_late_1();
  END LOOP;
  RETURN NOT EXISTS (SELECT 1 FROM leases);
END $$;

CREATE FUNCTION end_all_leases_1(p_now bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT end_held_leases_1(p_now) THEN RAISE EXCEPTION 'leases are left' USING ERRCODE = '55P03'; END IF;
END $$;

CREATE FUNCTION claim_unfinished_1(p_now bigint, p_token text, p_lease_ms bigint, p_limit int, p_window bigint,
  p_most int)
RETURNS SETOF claimed_1 LANGUAGE plpgsql ${planned} AS $$
DECLARE
  at bigint := time_1(p_now);
  seqs bigint[];
  found_rows bigint;
BEGIN
  ${durable}
  IF hold_reason_1() IS NULL THEN RETURN; END IF;
  PERFORM end_all_leases_1(p_now);
  -- Until there are some: rows of messages that have ended meanwhile may stand before them.
  WHILE seqs IS NULL LOOP
    WITH found AS MATERIALIZED (
      SELECT q.lane, q.class, q.due_at, q.message FROM queue q
      ORDER BY q.lane, q.class, q.due_at, q.message LIMIT p_limit FOR UPDATE
    ), gone AS (
      DELETE FROM queue q USING found f
      WHERE q.lane = f.lane AND q.class = f.class AND q.due_at = f.due_at AND q.message = f.message
      RETURNING q.message
    )
    SELECT array_agg(DISTINCT m.seq), count(*) INTO seqs, found_rows
    FROM gone g LEFT JOIN messages m ON m.seq = g.message AND m.status = 'queued';
    IF found_rows = 0 THEN RETURN; END IF;
    seqs := nullif(array_remove(seqs, NULL), '{}');
  END LOOP;
  INSERT INTO leases (token, until, length, messages) VALUES (p_token, at + p_lease_ms, p_lease_ms, seqs);
  RETURN QUERY SELECT * FROM read_claimed_1(seqs, at, p_window, p_most);
END $$;

-- The lock lets one of many who release it through: the leases of a store that sends again are not theirs to end.
CREATE FUNCTION release_1(p_now bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  ${durable}
  PERFORM 1 FROM hold FOR UPDATE;
  IF hold_reason_1() IS NULL THEN RETURN false; END IF;
  PERFORM end_all_leases_1(p_now);
  PERFORM set_hold_1(NULL);
  UPDATE hold SET releases = releases + 1;
  RETURN true;
END $$;
`;
