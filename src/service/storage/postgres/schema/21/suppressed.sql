-- Recipients that nothing more is sent to, for one of three reasons, whatever the settings say.

UPDATE suppressions SET reason =
  CASE reason WHEN 'asked by SMS for no more messages' THEN 'opt_out' ELSE 'unknown_recipient' END;
ALTER TABLE suppressions ADD CHECK (reason IN ('opt_out', 'unknown_recipient', 'manual'));

ALTER TYPE acceptance_1 ADD ATTRIBUTE obeys_opt_outs boolean;

-- Whether any of these projects has a list.
CREATE FUNCTION is_listed_1(p_projects text[]) RETURNS boolean LANGUAGE plpgsql STABLE :planned AS $$
BEGIN
  RETURN EXISTS (SELECT 1 FROM projects p
    CROSS JOIN LATERAL (SELECT 1 FROM suppressions s WHERE s.project = p.seq LIMIT 1) listed
    WHERE p.id = ANY (p_projects));
END $$;

-- Whether any of them suppresses recipients that were erased.
CREATE FUNCTION is_erased_1(p_projects text[]) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT 1 FROM projects p
    CROSS JOIN LATERAL (SELECT 1 FROM suppressions s
      WHERE s.project = p.seq AND s.recipient >= 'erased:' AND s.recipient < 'erased;' LIMIT 1) erased
    WHERE p.id = ANY (p_projects));
END $$;

-- Why a recipient is suppressed, of several reasons always the same; null if it is not. p_mailbox: of an address, for
-- whose tags its opt-outs hold. p_pseudonyms: as in acceptance_1. p_obeys_opt_outs: null says yes.
CREATE FUNCTION suppressed_1(p_project int, p_recipient text, p_mailbox text, p_pseudonyms text[],
  p_obeys_opt_outs boolean)
RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  compared text := lower(p_recipient COLLATE "C");
  mailbox text := coalesce(p_mailbox, compared);
BEGIN
  RETURN (SELECT min(s.reason COLLATE "C") FROM suppressions s
    WHERE s.project = p_project AND s.recipient = ANY (ARRAY[compared, mailbox] || p_pseudonyms)
      AND CASE WHEN s.reason = 'opt_out' THEN p_obeys_opt_outs IS NOT FALSE ELSE s.recipient <> mailbox OR mailbox = compared END);
END $$;
