-- Ends of messages, and the receipts that carriers give for them.

-- Messages of batches that may have arrived: a table of their own, for an index of messages by their delivery would make
-- every receipt write all indexes of its message.
CREATE TABLE unknown_deliveries (
  batch bigint NOT NULL,
  message bigint NOT NULL,
  PRIMARY KEY (batch, message)
);

-- The state of a message is that of its segments: delivered when all are, undelivered when one is.
CREATE FUNCTION update_delivery_2(p_seq bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  in_batch bigint;
  states text[] := ARRAY(SELECT r.state FROM receipts r WHERE r.message = p_seq);
  new_state text;
  -- In doubt nobody has learnt how many segments there are: no more than parts.
  fewest int := coalesce((SELECT m.parts FROM messages m WHERE m.seq = p_seq AND m.doubt_until IS NOT NULL), 1);
BEGIN
  new_state := (SELECT s FROM unnest(states) s WHERE s IN ('bounced', 'undelivered') LIMIT 1);
  IF new_state IS NULL THEN
    IF cardinality(states) < fewest OR array_position(states, NULL) IS NOT NULL THEN RETURN; END IF;
    new_state := CASE WHEN 'delivered' = ALL (states) THEN 'delivered' ELSE 'unknown' END;
  END IF;
  UPDATE messages SET delivery = new_state, doubt_until = NULL
  WHERE seq = p_seq AND status = 'sent' AND (delivery IS NULL OR delivery = 'unknown') RETURNING batch INTO in_batch;
  IF in_batch IS NULL THEN RETURN; END IF;
  IF new_state = 'unknown' THEN
    INSERT INTO unknown_deliveries (batch, message) VALUES (in_batch, p_seq) ON CONFLICT DO NOTHING;
  ELSE
    DELETE FROM unknown_deliveries WHERE batch = in_batch AND message = p_seq;
  END IF;
END $$;
