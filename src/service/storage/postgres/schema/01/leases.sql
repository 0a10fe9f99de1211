-- The ends of leases.

-- Whether a statement has run for so long that it leaves the rest to the next: many leases take longer than one may.
CREATE FUNCTION is_late_1() RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT clock_timestamp() > statement_timestamp() + current_setting('statement_timeout')::interval / 4
$$;

-- Ends leases that are over, or the first of them. p_connected_ms: how long the caller was connected; it has to be as
-- long as the lease.
CREATE FUNCTION end_leases_1(p_now bigint, p_connected_ms bigint) RETURNS void LANGUAGE plpgsql :planned AS $$
DECLARE
  at bigint := time_1(p_now);
  ended leases;
BEGIN
  :durable;
  FOR ended IN SELECT * FROM leases
    WHERE (until <= at AND length <= p_connected_ms) OR until > at + length + :lease_tolerance
    ORDER BY token FOR UPDATE SKIP LOCKED
  LOOP
    PERFORM end_lease_1(ended, at);
    EXIT WHEN is_late_1();
  END LOOP;
END $$;
