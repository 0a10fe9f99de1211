-- What the service reads in statements of its own.
DROP FUNCTION IF EXISTS depth_1(bigint), count_unfinished_1(),
  -- What earlier releases called, which no longer run beside this one.
  has_due_1(bigint), finalize_1(bigint, json),
  receive_1(bigint, text, text, text, text, text, bigint, bigint, int), reset_1(bigint, bigint, bigint),
  stop_batch_1(bigint, text, text, text), take_turns_1(bigint, text, double precision, int, int, double precision),
  mark_1(bigint, json), claim_2(bigint, text, bigint, int, text, int, json, bigint, int),
  has_others_1(bigint, text, text, bigint, bigint);

-- Forgets everything but projects, their settings and keys.
CREATE OR REPLACE FUNCTION reset_2(p_now bigint, p_balance bigint, p_hold_ms bigint) RETURNS TABLE (id text, recipient text)
LANGUAGE plpgsql AS $$
DECLARE
  at bigint;
BEGIN
  :durable;
  LOCK TABLE projects IN EXCLUSIVE MODE;
  LOCK TABLE leases, messages, queue IN ACCESS EXCLUSIVE MODE;
  at := time_1(p_now);
  RETURN QUERY SELECT m.id, m.recipient FROM messages m WHERE m.status = 'queued' AND m.route IS NOT NULL;
  TRUNCATE verifications, idempotency, messages, batches, contents, ledger, receipts, queue, leases,
    inbox, suppressions, erasures, unknown_deliveries, turns, requests, events, event_lines;
  UPDATE projects SET balance = p_balance, line = NULL;
  INSERT INTO ledger (project, amount, reason, created_at)
  SELECT seq, p_balance, 'opening', at FROM projects WHERE p_balance <> 0 ORDER BY seq;
  UPDATE resets SET until = at + p_hold_ms;
END $$;

-- What earlier resets have left.
DELETE FROM requests r WHERE NOT EXISTS (SELECT FROM messages m WHERE m.seq = r.message);
