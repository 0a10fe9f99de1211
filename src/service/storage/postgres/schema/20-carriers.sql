-- Receipts that name two ids, one form of the ids of operators over SMPP, and single messages of lists.

-- The second id that a receipt names, under which it is kept too until one of them is joined.
ALTER TABLE receipts ADD COLUMN other text;
-- Whether the ids of its receipts are in the form of SMPP.
ALTER TABLE lanes ADD COLUMN has_normal_ids boolean NOT NULL DEFAULT false;

-- The submission's side of its receipts. One that came before the mark is of an older message, whose id the carrier
-- uses again. What is kept under the other id goes.
CREATE OR REPLACE FUNCTION submitted_2(p_seq bigint, p_route text, p_recipient text, p_carrier_ids text[], p_at bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH joined AS (
    INSERT INTO receipts AS r (route, carrier_id, recipient, message, submitted_at)
    SELECT p_route, c, p_recipient, p_seq, p_at FROM (SELECT DISTINCT c FROM unnest(p_carrier_ids) c) ids ORDER BY c
    ON CONFLICT (route, carrier_id, recipient) DO UPDATE SET message = excluded.message,
      submitted_at = excluded.submitted_at,
      state = CASE WHEN r.message IS NULL AND r.received_at > p_at - :joins_within AND r.received_at >=
        (SELECT coalesce(m.marked_at, m.created_at) FROM messages m WHERE m.seq = p_seq) THEN r.state END
    RETURNING r.other
  )
  DELETE FROM receipts o USING joined j
  WHERE j.other IS NOT NULL AND o.route = p_route AND o.carrier_id = j.other AND o.recipient = p_recipient
    AND o.message IS NULL;
  PERFORM update_delivery_2(p_seq);
END $$;

-- As receive_2 with a second id, which may be null. The one that is known joins.
CREATE FUNCTION receive_3(p_now bigint, p_route text, p_carrier_id text, p_other text, p_recipient text, p_state text,
  p_reference text, p_submitted_at bigint, p_window bigint, p_most int)
RETURNS SETOF claimed_1 LANGUAGE plpgsql :planned AS $$
DECLARE
  at bigint := time_1(p_now);
  id text;
  known bigint;
BEGIN
  :durable;
  IF p_other IS NULL OR EXISTS (SELECT FROM receipts r WHERE r.route = p_route AND r.carrier_id = p_carrier_id
    AND r.recipient = p_recipient AND r.submitted_at > at - :joins_within) THEN
    id := p_carrier_id;
  ELSIF EXISTS (SELECT FROM receipts r WHERE r.route = p_route AND r.carrier_id = p_other
    AND r.recipient = p_recipient AND r.submitted_at > at - :joins_within) THEN
    id := p_other;
  ELSE
    id := p_carrier_id;
    -- Without a reference: one row of a receipt is enough for a message in doubt.
    INSERT INTO receipts AS r (route, carrier_id, recipient, state, received_at, reference, other)
    VALUES (p_route, p_other, p_recipient, p_state, at, '', p_carrier_id)
    ON CONFLICT (route, carrier_id, recipient) DO UPDATE SET
      message = CASE WHEN r.submitted_at > at - :joins_within THEN r.message END,
      state = CASE WHEN r.submitted_at > at - :joins_within THEN r.state ELSE excluded.state END,
      received_at = excluded.received_at, reference = excluded.reference, other = excluded.other
    RETURNING r.message INTO known;
    -- It was submitted meanwhile.
    IF known IS NOT NULL THEN id := p_other; END IF;
  END IF;
  RETURN QUERY SELECT * FROM receive_2(p_now, p_route, id, p_recipient, p_state,
    CASE WHEN id = p_carrier_id THEN p_reference ELSE '' END, p_submitted_at, p_window, p_most);
  UPDATE receipts r SET other = CASE WHEN id = p_carrier_id THEN p_other ELSE p_carrier_id END
  WHERE r.route = p_route AND r.carrier_id = id AND r.recipient = p_recipient
    AND (p_other IS NOT NULL OR r.other IS NOT NULL) RETURNING r.message INTO known;
  IF p_other IS NOT NULL AND known IS NOT NULL THEN
    DELETE FROM receipts r WHERE r.route = p_route AND r.recipient = p_recipient AND r.message IS NULL
      AND r.carrier_id = CASE WHEN id = p_carrier_id THEN p_other ELSE p_carrier_id END;
  END IF;
END $$;

-- is_bulk: a single message of a list, as each row of a personalised job is. The release before says nothing of it.
ALTER TABLE contents ADD COLUMN is_bulk boolean NOT NULL DEFAULT false;
ALTER TYPE acceptance_1 ADD ATTRIBUTE is_bulk boolean;
