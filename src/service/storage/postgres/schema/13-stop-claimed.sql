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
