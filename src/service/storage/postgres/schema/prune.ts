import { prunedText } from '../../pruning.js';
import { durable } from './shared.js';

/** Erasing recipients and texts of messages that have ended. */
export const pruneSchema = `
-- When the last of its messages was pruned.
ALTER TABLE batches ADD COLUMN pruned_at bigint;

CREATE FUNCTION prune_messages_1(p_now bigint, p_seqs bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  gone record;
BEGIN
  ${durable}
  PERFORM 1 FROM messages WHERE seq = ANY (p_seqs) ORDER BY seq FOR NO KEY UPDATE;
  FOR gone IN
    SELECT m.batch, m.content, array_agg(m.seq) AS seqs FROM messages m
    WHERE m.seq = ANY (p_seqs) AND m.status <> 'queued' AND m.content <> 0
    GROUP BY m.batch, m.content ORDER BY m.batch, m.content
  LOOP
    UPDATE messages SET recipient = '', content = 0, doubt_until = NULL,
      error_message = CASE WHEN error_message IS NOT NULL THEN '${prunedText}' END
    WHERE seq = ANY (gone.seqs);
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
  DELETE FROM receipts WHERE message = ANY (p_seqs);
END $$;

CREATE FUNCTION replace_answers_1(p_items json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  ${durable}
  UPDATE idempotency k SET body = i.body
  FROM json_to_recordset(p_items) AS i(project int, key text, body text)
  WHERE k.project = i.project AND k.key = i.key COLLATE "C";
END $$;
`;
