import { durable, planned } from './shared.js';

/** Of a lease, over its length: a renewal may wait for its turn. */
const leaseTolerance = 10_000;

/** The limits of carriers' routes, over all instances. */
export const routeFunctions = `
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

-- Leases a bind, or lengthens the holder's. p_connected_ms: how long the caller was connected; it has to be as long as
-- the lease of another that it takes.
CREATE FUNCTION lease_bind_1(p_now bigint, p_route text, p_binds int, p_holder text, p_lease_ms bigint,
  p_connected_ms bigint)
RETURNS boolean LANGUAGE plpgsql ${planned} AS $$
DECLARE
  at bigint;
BEGIN
  ${durable}
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
      AND ((until <= at AND length <= p_connected_ms) OR until > at + length + ${leaseTolerance})
    ORDER BY number LIMIT 1);
  RETURN FOUND;
END $$;

CREATE FUNCTION release_bind_1(p_route text, p_holder text) RETURNS void LANGUAGE plpgsql ${planned} AS $$
BEGIN
  ${durable}
  PERFORM 1 FROM binds WHERE route = p_route ORDER BY number FOR NO KEY UPDATE;
  UPDATE binds SET holder = '', until = 0, length = 0 WHERE route = p_route AND holder = p_holder;
END $$;

-- Takes turns of a rate as takeTurns does. p_most: turns ahead, p_ahead_ms: milliseconds.
CREATE FUNCTION take_turns_1(p_now bigint, p_route text, p_each double precision, p_wanted int, p_most int,
  p_ahead_ms double precision)
RETURNS TABLE (granted int, wait_ms double precision) LANGUAGE plpgsql ${planned} AS $$
DECLARE
  at double precision;
  start double precision;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '2s', true);
  INSERT INTO route_rates (route, next_at) VALUES (p_route, 0) ON CONFLICT DO NOTHING;
  SELECT next_at INTO start FROM route_rates WHERE route = p_route FOR NO KEY UPDATE;
  -- In fractions: whole milliseconds would cost a fast rate its turns.
  at := coalesce(p_now, extract(epoch FROM clock_timestamp()) * 1000);
  start := least(greatest(start, at), at + p_ahead_ms + greatest(p_ahead_ms, p_each));
  granted := CASE WHEN start > at + p_ahead_ms THEN 0 ELSE least(p_wanted, p_most) END;
  wait_ms := CASE WHEN granted = 0 THEN start - at - p_ahead_ms ELSE start - at END;
  UPDATE route_rates SET next_at = start + granted * p_each WHERE route = p_route;
  RETURN NEXT;
END $$;
`;
