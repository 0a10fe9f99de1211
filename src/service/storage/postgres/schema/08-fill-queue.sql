-- What was queued before.
UPDATE queue q SET project = m.project, batch = coalesce(m.batch, 0) FROM messages m WHERE m.seq = q.message;
