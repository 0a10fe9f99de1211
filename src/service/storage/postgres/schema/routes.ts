import { leaseTolerance } from './leases.js';
import { durable, planned } from './shared.js';

/** The limits of carriers' routes, over all instances; lanes that are paused and batches that are stopped. */
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

-- By the owner of the service.
CREATE TABLE lane_pauses (
  lane text COLLATE "C" PRIMARY KEY,
  paused_at bigint NOT NULL
);

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

CREATE FUNCTION pause_lane_1(p_now bigint, p_lane text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  ${durable}
  INSERT INTO lane_pauses (lane, paused_at) VALUES (p_lane, time_1(p_now)) ON CONFLICT DO NOTHING;
END $$;

CREATE FUNCTION resume_lane_1(p_lane text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  ${durable}
  DELETE FROM lane_pauses WHERE lane = p_lane;
END $$;
`;

/** Stopping a batch. */
export const stopFunction = `
-- Fails and refunds the messages of a batch that are not marked.
-- lanes: of those that failed, as JSON.
CREATE FUNCTION stop_batch_2(p_now bigint, p_id text, p_code text, p_message text)
RETURNS TABLE (channel text, total int, sent int, failed int, stopped int, refunded bigint, lanes json) LANGUAGE plpgsql ${planned} AS $$
#variable_conflict use_column
DECLARE
  stopping batches;
  seqs bigint[];
  tokens text[];
  at bigint;
  credits_back bigint;
BEGIN
  ${durable}
  SELECT b.* INTO stopping FROM batches b WHERE b.id = p_id;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM 1 FROM projects p WHERE p.seq = stopping.project FOR NO KEY UPDATE;
  seqs := ARRAY(SELECT m.seq FROM messages m WHERE m.batch = stopping.seq AND m.status = 'queued');
  tokens := lock_leases_1(ARRAY(SELECT l.token FROM leases l WHERE l.messages && seqs), seqs);
  seqs := ARRAY(SELECT m.seq FROM messages m WHERE m.seq = ANY (seqs) AND m.status = 'queued' AND m.route IS NULL);
  at := time_1(p_now);
  -- Whenever they are due: all of a batch are bound to one time.
  DELETE FROM queue q WHERE q.ctid = ANY (ARRAY(
    SELECT f.ctid FROM (SELECT DISTINCT m.lane, m.bound_at FROM messages m WHERE m.seq = ANY (seqs)) b
    CROSS JOIN LATERAL (
      SELECT w.ctid, w.message FROM queue w WHERE w.lane = b.lane AND w.class = 1 AND w.bound_at = b.bound_at OFFSET 0) f
    WHERE coalesce(f.message IN (SELECT unnest(seqs)), false)));
  SELECT coalesce(sum(m.credits), 0)::bigint INTO credits_back FROM messages m WHERE m.seq = ANY (seqs);
  INSERT INTO ledger (project, amount, reason, subject_id, created_at)
  SELECT m.project, m.credits, 'refund', m.id, at FROM messages m
  WHERE m.seq = ANY (seqs) AND m.credits <> 0 ORDER BY m.seq;
  UPDATE messages m SET status = 'failed', error_code = p_code, error_message = p_message, credits = 0,
    refunded = true
  WHERE m.seq = ANY (seqs);
  PERFORM leave_1(tokens, seqs);
  UPDATE projects p SET balance = p.balance + credits_back WHERE p.seq = stopping.project AND credits_back <> 0;
  RETURN QUERY UPDATE batches b SET stopped_at = coalesce(b.stopped_at, at), failed = b.failed + cardinality(seqs),
      completed_at = CASE WHEN b.sent + b.failed + cardinality(seqs) = b.total THEN coalesce(b.completed_at, at) END
    WHERE b.seq = stopping.seq
    RETURNING b.channel, b.total, b.sent, b.failed, cardinality(seqs), credits_back, (
      SELECT json_agg(c) FROM (SELECT m.lane, count(*) FROM messages m WHERE m.seq = ANY (seqs) GROUP BY m.lane) c);
END $$;
`;

export const stopBefore = `
-- What it left in the queue.
DELETE FROM queue q USING batches b JOIN messages m ON m.batch = b.seq
WHERE b.stopped_at IS NOT NULL AND m.status = 'failed'
  AND q.lane = m.lane AND q.class = 1 AND q.bound_at = m.bound_at AND q.message = m.seq;

CREATE OR REPLACE FUNCTION stop_batch_1(p_now bigint, p_id text, p_code text, p_message text)
RETURNS TABLE (total int, sent int, failed int, stopped int, refunded bigint) LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT s.total, s.sent, s.failed, s.stopped, s.refunded FROM stop_batch_2(p_now, p_id, p_code, p_message) s;
END $$;
`;
