CREATE INDEX queue_turns ON queue (lane, class, project, batch, due_at, message);
