-- Erasing recipients and texts of messages that have ended.

-- The last run of the schedule; it has not ended while it goes on, or its instance has died.
CREATE TABLE prune_runs (
  one int PRIMARY KEY CHECK (one = 1),
  begun_at bigint NOT NULL,
  ended_at bigint,
  is_repeated boolean NOT NULL DEFAULT false
);

CREATE INDEX inbox_received ON inbox (project, received_at);
CREATE INDEX inbox_sender ON inbox (sender);
CREATE INDEX receipts_unjoined ON receipts (received_at) WHERE message IS NULL;
CREATE INDEX receipts_unjoined_to ON receipts (recipient) WHERE message IS NULL;

-- p_pseudonym: of the recipient, whose sends of the last days the caps still count.
CREATE FUNCTION prune_messages_1(p_now bigint, p_seqs bigint[], p_pseudonym text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  gone record;
BEGIN
  :durable;
  IF p_pseudonym IS NOT NULL THEN
    -- Sends are accepted before it or after it.
    PERFORM 1 FROM projects WHERE seq = ANY (ARRAY(SELECT m.project FROM messages m WHERE m.seq = ANY (p_seqs)))
      ORDER BY seq FOR NO KEY UPDATE;
  END IF;
  PERFORM 1 FROM messages WHERE seq = ANY (p_seqs) ORDER BY seq FOR NO KEY UPDATE;
  IF p_pseudonym IS NOT NULL THEN
    INSERT INTO erasures (project, pseudonym, message, counts_at)
    SELECT m.project, p_pseudonym, m.seq, m.counts_at FROM messages m
    WHERE m.seq = ANY (p_seqs) AND m.status <> 'queued' AND m.content <> 0 AND NOT m.refunded
      AND m.counts_at > time_1(p_now) - :counted_for;
  END IF;
  FOR gone IN
    SELECT m.batch, m.content, array_agg(m.seq) AS seqs FROM messages m
    WHERE m.seq = ANY (p_seqs) AND m.status <> 'queued' AND m.content <> 0
    GROUP BY m.batch, m.content ORDER BY m.batch, m.content
  LOOP
    UPDATE messages SET recipient = '', content = 0, doubt_until = NULL,
      error_message = CASE WHEN error_message IS NOT NULL THEN ':pruned_text' END
    WHERE seq = ANY (gone.seqs);
    DELETE FROM receipts WHERE message = ANY (gone.seqs);
    IF gone.batch IS NULL THEN
      DELETE FROM contents WHERE seq = gone.content;
    ELSE
      -- Of two portions of a batch the second sees that nothing is left.
      PERFORM 1 FROM batches WHERE seq = gone.batch FOR NO KEY UPDATE;
      IF NOT EXISTS (SELECT 1 FROM messages m WHERE m.batch = gone.batch AND m.content <> 0) THEN
        DELETE FROM contents WHERE seq = gone.content;
        UPDATE batches SET pruned_at = time_1(p_now) WHERE seq = gone.batch;
      END IF;
    END IF;
  END LOOP;
END $$;
