-- A batch that is stopped while its messages are claimed leaves none of them in a lease.

-- Takes messages of batches out of the queue, after the claims of them that are under way. Returns the leases that have
-- them then. Whenever they are due: all of a batch are bound to one time.
CREATE FUNCTION unqueue_batch_1(p_seqs bigint[]) RETURNS text[] LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM queue q WHERE q.ctid = ANY (ARRAY(
    SELECT f.ctid FROM (SELECT DISTINCT m.lane, m.bound_at FROM messages m WHERE m.seq = ANY (p_seqs)) b
    CROSS JOIN LATERAL (
      SELECT w.ctid, w.message FROM queue w WHERE w.lane = b.lane AND w.class = 1 AND w.bound_at = b.bound_at OFFSET 0) f
    WHERE coalesce(f.message IN (SELECT unnest(p_seqs)), false)));
  RETURN ARRAY(SELECT l.token FROM leases l WHERE l.messages && p_seqs);
END $$;

-- Its arguments and results stay, so that the release before calls it.
CREATE OR REPLACE FUNCTION stop_batch_2(p_now bigint, p_id text, p_code text, p_message text)
RETURNS TABLE (channel text, total int, sent int, failed int, stopped int, refunded bigint, lanes json) LANGUAGE plpgsql :planned AS $$
#variable_conflict use_column
DECLARE
  stopping batches;
  seqs bigint[];
  tokens text[];
  at bigint;
  credits_back bigint;
BEGIN
  :durable;
  SELECT b.* INTO stopping FROM batches b WHERE b.id = p_id;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM 1 FROM projects p WHERE p.seq = stopping.project FOR NO KEY UPDATE;
  seqs := ARRAY(SELECT m.seq FROM messages m WHERE m.batch = stopping.seq AND m.status = 'queued');
  -- Before it locks a message: a claim that it waits for may be marking at once, with its lease locked.
  tokens := lock_leases_1(unqueue_batch_1(seqs), seqs);
  seqs := ARRAY(SELECT m.seq FROM messages m WHERE m.seq = ANY (seqs) AND m.status = 'queued' AND m.route IS NULL);
  at := time_1(p_now);
  -- What was put back meanwhile, and may have been claimed again.
  tokens := tokens || lock_leases_1(unqueue_batch_1(seqs), '{}');
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
