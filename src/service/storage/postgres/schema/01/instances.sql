-- Heartbeats of the instances.

CREATE TABLE instances (
  id text COLLATE "C" PRIMARY KEY,
  version text NOT NULL,
  address text,
  carriers text NOT NULL,
  queue text NOT NULL,
  seen_at bigint NOT NULL
);

-- One that is later than now was written before the clock was set back.
CREATE FUNCTION is_fresh_1(p_seen_at bigint, p_at bigint) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT p_seen_at BETWEEN p_at - :stale_after AND p_at + :stale_after
$$;

CREATE FUNCTION beat_1(p_now bigint, p_id text, p_version text, p_address text, p_carriers text, p_queue text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  at bigint := time_1(p_now);
BEGIN
  :durable;
  DELETE FROM instances WHERE id IN (
    SELECT i.id FROM instances i WHERE NOT is_fresh_1(i.seen_at, at) FOR UPDATE SKIP LOCKED);
  INSERT INTO instances (id, version, address, carriers, queue, seen_at)
  VALUES (p_id, p_version, p_address, p_carriers, p_queue, at)
  ON CONFLICT (id) DO UPDATE SET version = excluded.version, address = excluded.address,
    carriers = excluded.carriers, queue = excluded.queue, seen_at = excluded.seen_at;
END $$;
