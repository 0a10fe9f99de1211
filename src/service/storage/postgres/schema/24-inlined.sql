-- What every send calls. A function with a search path of its own is never inlined; these need none, as their names
-- are looked up once, here.

CREATE OR REPLACE FUNCTION time_1(p_given bigint) RETURNS bigint LANGUAGE sql VOLATILE
RETURN coalesce(p_given, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);

CREATE OR REPLACE FUNCTION body_1(p_head text, p_tail text, p_at bigint, p_has_balance boolean, p_balance bigint)
RETURNS text LANGUAGE sql STABLE
RETURN p_head
  || CASE WHEN p_tail IS NULL THEN '' ELSE
    to_char(to_timestamp(p_at / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || p_tail END
  || CASE WHEN p_has_balance THEN p_balance::text || '}' ELSE '' END;

-- Whether none of these sends is refused or known. The items are taken apart once; earlier sends are listed only for
-- recipients who had any.
CREATE OR REPLACE FUNCTION can_accept_all_1(p_items acceptance_1[], p_at bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF is_resetting_1(p_at) OR hold_reason_1() IS NOT NULL THEN RETURN false; END IF;
  RETURN (
    WITH item AS MATERIALIZED (
      SELECT i.id, i.key, i.recipient, i.mailbox, i.credits, i.caps, i.windows, i.pseudonym, i.pseudonyms,
        p.seq AS project, p.balance, p_at - (SELECT max(w) FROM unnest(i.windows) w) AS since
      FROM unnest(p_items) i LEFT JOIN projects p ON p.id = i.project
    )
    SELECT NOT EXISTS (SELECT FROM item WHERE project IS NULL)
      AND NOT EXISTS (SELECT FROM item i
        CROSS JOIN LATERAL (SELECT 1 FROM messages m WHERE m.id = i.id LIMIT 1) known)
      AND NOT EXISTS (SELECT FROM item i
        CROSS JOIN LATERAL (SELECT 1 FROM idempotency k WHERE k.project = i.project AND k.key = i.key LIMIT 1) used)
      AND NOT EXISTS (SELECT FROM item WHERE key IS NOT NULL GROUP BY project, key HAVING count(*) > 1)
      AND NOT EXISTS (SELECT FROM item GROUP BY project, coalesce(mailbox, recipient) HAVING count(*) > 1)
      AND NOT EXISTS (SELECT FROM item GROUP BY project HAVING sum(credits) > min(balance))
      -- Of an address all messages to its mailbox: more than count for it alone.
      AND NOT EXISTS (SELECT FROM item i
        CROSS JOIN LATERAL (
          SELECT CASE WHEN i.mailbox IS NULL THEN earlier_1(i.project, i.recipient, i.since, 9223372036854775807,
              (SELECT max(c) FROM unnest(i.caps) c), i.pseudonym)
            ELSE earlier_to_1(i.project, i.mailbox, NULL, i.since, 9223372036854775807,
              (SELECT max(c) FROM unnest(i.caps) c), i.pseudonyms) END AS times
          WHERE i.pseudonym IS NOT NULL
            OR (SELECT m.counts_at FROM messages m WHERE m.project = i.project
              AND m.recipient = coalesce(i.mailbox, i.recipient) AND NOT m.refunded AND m.counts_at > i.since
              ORDER BY m.counts_at DESC LIMIT 1) IS NOT NULL
            OR (SELECT m.counts_at FROM messages m WHERE m.project = i.project
              AND m.mailbox = i.mailbox AND NOT m.refunded AND m.counts_at > i.since
              ORDER BY m.counts_at DESC LIMIT 1) IS NOT NULL
          OFFSET 0) e
        WHERE e.times[1] > p_at + :tolerance OR cap_wait_1(e.times, i.caps, i.windows, p_at) IS NOT NULL)
  );
END $$;
