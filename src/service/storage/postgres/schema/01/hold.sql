-- The hold, begun by itself where the database is not the one that it was released in.

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
  :durable;
  INSERT INTO hold (one, place, timeline, written, reason)
  VALUES (1, place_1(), timeline_1(), transaction_1(), CASE WHEN EXISTS (SELECT 1 FROM messages) THEN 'restored' END)
  ON CONFLICT DO NOTHING;
END $$;
