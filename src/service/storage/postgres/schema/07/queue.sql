-- Of what releases before this one queue it is 0, until the next step: a project and a batch like any other. Of doubts it
-- says nothing. batch: 0 of a single message.
ALTER TABLE queue ADD COLUMN project int NOT NULL DEFAULT 0, ADD COLUMN batch bigint NOT NULL DEFAULT 0;

-- Whose turn it is in a lane and class: in the row of project 0 a project's, in that of a project one of its batches'.
-- taken: what a batch has had of its slice. Lost at a crash, which costs a turn.
CREATE UNLOGGED TABLE turns (
  lane text COLLATE "C" NOT NULL,
  class smallint NOT NULL,
  project int NOT NULL,
  next bigint NOT NULL,
  taken int NOT NULL,
  PRIMARY KEY (lane, class, project)
) WITH (fillfactor = 50);

-- The message that the key was used for, the first one of a batch; null for one of the release before.
ALTER TABLE idempotency ADD COLUMN message bigint;

-- Takes messages back into the queue. Its arguments stay, so that the release before calls it.
CREATE OR REPLACE FUNCTION postpone_1(p_now bigint, p_items json) RETURNS void LANGUAGE plpgsql :planned AS $$
DECLARE
  items held_1[];
  seqs bigint[];
  tokens text[];
  at bigint;
BEGIN
  :durable;
  SELECT array_agg(i) INTO items FROM json_populate_recordset(NULL::held_1, p_items) i;
  tokens := lock_leases_1(ARRAY(SELECT i.token FROM unnest(items) i), ARRAY(SELECT i.seq FROM unnest(items) i));
  seqs := ARRAY(SELECT standing_1(items));
  at := time_1(p_now);
  tokens := tokens || unqueue_doubts_1(seqs);
  UPDATE messages m SET route = NULL, doubt_ms = NULL, doubt_until = NULL, lane = i.lane,
    tries = m.tries + i.is_try::int
  FROM rows_1(items) i WHERE m.seq = i.seq AND m.seq = ANY (seqs);
  INSERT INTO queue (lane, class, project, batch, due_at, message, queued_at, bound_at)
  SELECT m.lane, (m.batch IS NOT NULL)::int, m.project, coalesce(m.batch, 0), at + i.delay_ms, m.seq, at, m.bound_at
  FROM unnest(items) i CROSS JOIN LATERAL (SELECT * FROM messages m WHERE m.seq = i.seq OFFSET 0) m
  WHERE coalesce(i.seq IN (SELECT unnest(seqs)), false);
  PERFORM leave_1(tokens, seqs);
END $$;

-- Puts the messages of a lease back into the queue. Its arguments stay, so that the release before calls it.
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
