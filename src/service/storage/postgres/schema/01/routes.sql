-- The limits of carriers' routes, over all instances; lanes that are paused and batches that are stopped.

-- Connections that a carrier allows, by number from 1.
CREATE TABLE binds (
  route text COLLATE "C" NOT NULL,
  number int NOT NULL,
  holder text COLLATE "C" NOT NULL,
  until bigint NOT NULL,
  length bigint NOT NULL,
  PRIMARY KEY (route, number)
);

-- Lost at a crash, which costs a route one block.
CREATE UNLOGGED TABLE route_rates (
  route text COLLATE "C" PRIMARY KEY,
  next_at double precision NOT NULL
) WITH (fillfactor = 10);

-- By the owner of the service.
CREATE TABLE lane_pauses (
  lane text COLLATE "C" PRIMARY KEY,
  paused_at bigint NOT NULL
);

-- Leases a bind, or lengthens the holder's. p_connected_ms: how long the caller was connected; it has to be as long as
-- the lease of another that it takes.
CREATE FUNCTION lease_bind_1(p_now bigint, p_route text, p_binds int, p_holder text, p_lease_ms bigint,
  p_connected_ms bigint)
RETURNS boolean LANGUAGE plpgsql :planned AS $$
DECLARE
  at bigint;
BEGIN
  :durable;
  INSERT INTO binds (route, number, holder, until, length)
  SELECT p_route, n, '', 0, 0 FROM generate_series(1, p_binds) n ON CONFLICT DO NOTHING;
  -- One after the other.
  PERFORM 1 FROM binds WHERE route = p_route ORDER BY number FOR NO KEY UPDATE;
  at := time_1(p_now);
  UPDATE binds SET until = at + p_lease_ms, length = p_lease_ms WHERE route = p_route AND holder = p_holder;
  IF FOUND THEN RETURN true; END IF;
  UPDATE binds SET holder = p_holder, until = at + p_lease_ms, length = p_lease_ms
  WHERE route = p_route AND number = (
    SELECT number FROM binds WHERE route = p_route AND number <= p_binds
      AND ((until <= at AND length <= p_connected_ms) OR until > at + length + :lease_tolerance)
    ORDER BY number LIMIT 1);
  RETURN FOUND;
END $$;

CREATE FUNCTION release_bind_1(p_route text, p_holder text) RETURNS void LANGUAGE plpgsql :planned AS $$
BEGIN
  :durable;
  PERFORM 1 FROM binds WHERE route = p_route ORDER BY number FOR NO KEY UPDATE;
  UPDATE binds SET holder = '', until = 0, length = 0 WHERE route = p_route AND holder = p_holder;
END $$;

CREATE FUNCTION pause_lane_1(p_now bigint, p_lane text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  :durable;
  INSERT INTO lane_pauses (lane, paused_at) VALUES (p_lane, time_1(p_now)) ON CONFLICT DO NOTHING;
END $$;

CREATE FUNCTION resume_lane_1(p_lane text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  :durable;
  DELETE FROM lane_pauses WHERE lane = p_lane;
END $$;
