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
