import { durable, planned } from './shared.js';

/** Of leases, over their length: a renewal may wait for its turn. */
export const leaseTolerance = 10_000;

/** The ends of leases. */
export const leaseFunctions = `
-- Whether a statement has run for so long that it leaves the rest to the next: many leases take longer than one may.
CREATE FUNCTION is_late_1() RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT clock_timestamp() > statement_timestamp() + current_setting('statement_timeout')::interval / 4
$$;

-- Ends leases that are over, or the first of them. p_connected_ms: how long the caller was connected; it has to be as
-- long as the lease.
CREATE FUNCTION end_leases_1(p_now bigint, p_connected_ms bigint) RETURNS void LANGUAGE plpgsql ${planned} AS $$
DECLARE
  at bigint := time_1(p_now);
  ended leases;
BEGIN
  ${durable}
  FOR ended IN SELECT * FROM leases
    WHERE (until <= at AND length <= p_connected_ms) OR until > at + length + ${leaseTolerance}
    ORDER BY token FOR UPDATE SKIP LOCKED
  LOOP
    PERFORM end_lease_1(ended, at);
    EXIT WHEN is_late_1();
  END LOOP;
END $$;
`;

/** Puts the messages of a lease back into the queue. Its arguments stay, so that the release before calls it. */
export const endLeaseFunction = `
CREATE OR REPLACE FUNCTION end_lease_1(p_lease leases, p_at bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM messages m WHERE m.seq = ANY (p_lease.messages) ORDER BY m.seq FOR NO KEY UPDATE;
  UPDATE messages m SET doubt_until = coalesce(m.doubt_until, p_at + m.doubt_ms)
  WHERE m.seq = ANY (p_lease.messages) AND m.status = 'queued' AND m.route IS NOT NULL;
  INSERT INTO queue (lane, class, project, batch, due_at, message, queued_at, bound_at)
  SELECT m.lane, CASE WHEN m.route IS NOT NULL THEN 2 ELSE (m.batch IS NOT NULL)::int END, m.project, coalesce(m.batch, 0),
    CASE WHEN m.route IS NOT NULL THEN p_at ELSE least(p_lease.until, p_at) END, m.seq, p_at, m.bound_at
  FROM messages m WHERE m.seq = ANY (p_lease.messages) AND m.status = 'queued';
  DELETE FROM leases WHERE token = p_lease.token;
END $$;
`;
