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

-- Sign-ins, and sends that the caps no longer count.
CREATE FUNCTION prune_ended_1(p_now bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  at bigint := time_1(p_now);
BEGIN
  :durable;
  DELETE FROM sign_ins WHERE NOT (:is_good);
  -- The clock was set back since.
  UPDATE erasures SET counts_at = at WHERE counts_at > at + :tolerance;
  DELETE FROM erasures WHERE counts_at <= at - :counted_for;
END $$;

CREATE FUNCTION replace_answers_1(p_items json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  :durable;
  UPDATE idempotency k SET body = i.body
  FROM json_to_recordset(p_items) AS i(project int, key text, body text)
  WHERE k.project = i.project AND k.key = i.key COLLATE "C";
END $$;
