-- What was unknown before they were listed.
INSERT INTO unknown_deliveries (batch, message)
SELECT m.batch, m.seq FROM messages m WHERE m.delivery = 'unknown' AND m.batch IS NOT NULL FOR NO KEY UPDATE
ON CONFLICT DO NOTHING;
