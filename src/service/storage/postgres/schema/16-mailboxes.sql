-- The mailbox of an address that is written with a tag or in capitals: caps count it with all spellings and tags. Null
-- for one that is its own mailbox, for a number, and for what the release before accepts.
ALTER TABLE messages ADD COLUMN mailbox text COLLATE "C";
UPDATE messages SET mailbox = lower(CASE
    WHEN strpos(recipient, '+') BETWEEN 2 AND strpos(recipient, '@')
      THEN left(recipient, strpos(recipient, '+') - 1) || substr(recipient, strpos(recipient, '@'))
    ELSE recipient END)
  WHERE channel = 'email'
    AND (recipient <> lower(recipient) OR strpos(recipient, '+') BETWEEN 2 AND strpos(recipient, '@'));
CREATE INDEX messages_mailbox ON messages (project, mailbox, counts_at) WHERE mailbox IS NOT NULL AND NOT refunded;
CREATE INDEX messages_spelled ON messages (project, lower(recipient)) WHERE mailbox IS NOT NULL;

-- Recipients are suppressed in lower case; an erasure has no address.
INSERT INTO suppressions (project, recipient, reason, created_at)
  SELECT project, lower(recipient), reason, created_at FROM suppressions
  WHERE strpos(recipient, '@') > 0 AND recipient <> lower(recipient) ORDER BY seq
  ON CONFLICT (project, recipient) DO NOTHING;
DELETE FROM suppressions WHERE strpos(recipient, '@') > 0 AND recipient <> lower(recipient);
DROP INDEX inbox_sender;
CREATE INDEX inbox_sender ON inbox (lower(sender COLLATE "C"));

-- mailbox: of an address, also where it is the recipient. most: the caps of a mailbox. pseudonyms: two of the recipient,
-- and that of the mailbox.
ALTER TYPE acceptance_1 ADD ATTRIBUTE mailbox text, ADD ATTRIBUTE most int[], ADD ATTRIBUTE pseudonyms text[];

-- Both, as [own, all]; null if there are none.
CREATE FUNCTION earlier_both_1(p_project int, p_recipient text, p_mailbox text, p_after bigint, p_before bigint,
  p_limit int, p_pseudonyms text[])
RETURNS json LANGUAGE plpgsql STABLE AS $$
DECLARE
  every bigint[];
  own bigint[];
BEGIN
  IF p_mailbox IS NULL THEN
    every := earlier_1(p_project, p_recipient, p_after, p_before, p_limit, p_pseudonyms[1]);
    own := every;
  ELSE
    every := earlier_to_1(p_project, p_mailbox, NULL, p_after, p_before, p_limit, p_pseudonyms[3:3]);
    -- What the release before erased has no pseudonym of its mailbox.
    IF every = '{}' AND p_pseudonyms IS NULL THEN RETURN NULL; END IF;
    own := earlier_to_1(p_project, p_mailbox, lower(p_recipient COLLATE "C"), p_after, p_before, p_limit,
      p_pseudonyms[1:2]);
  END IF;
  IF every = '{}' AND own = '{}' THEN RETURN NULL; END IF;
  RETURN json_build_array(own, every);
END $$;

-- Whether anything was sent to an address with a tag or in capitals.
CREATE FUNCTION has_spellings_1() RETURNS boolean LANGUAGE plpgsql STABLE :planned AS $$
BEGIN
  RETURN EXISTS (SELECT FROM messages WHERE mailbox IS NOT NULL);
END $$;

-- p_pseudonyms: of the recipient and its mailbox, whose sends of the last days the caps still count.
CREATE FUNCTION prune_messages_2(p_now bigint, p_seqs bigint[], p_pseudonyms text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  gone record;
BEGIN
  :durable;
  IF p_pseudonyms IS NOT NULL THEN
    -- Sends are accepted before it or after it.
    PERFORM 1 FROM projects WHERE seq = ANY (ARRAY(SELECT m.project FROM messages m WHERE m.seq = ANY (p_seqs)))
      ORDER BY seq FOR NO KEY UPDATE;
  END IF;
  PERFORM 1 FROM messages WHERE seq = ANY (p_seqs) ORDER BY seq FOR NO KEY UPDATE;
  IF p_pseudonyms IS NOT NULL THEN
    INSERT INTO erasures (project, pseudonym, message, counts_at)
    SELECT m.project, one, m.seq, m.counts_at FROM messages m CROSS JOIN unnest(p_pseudonyms) one
    WHERE m.seq = ANY (p_seqs) AND m.status <> 'queued' AND m.content <> 0 AND NOT m.refunded
      AND m.counts_at > time_1(p_now) - :counted_for;
  END IF;
  FOR gone IN
    SELECT m.batch, m.content, array_agg(m.seq) AS seqs FROM messages m
    WHERE m.seq = ANY (p_seqs) AND m.status <> 'queued' AND m.content <> 0
    GROUP BY m.batch, m.content ORDER BY m.batch, m.content
  LOOP
    UPDATE messages SET recipient = '', mailbox = NULL, content = 0, doubt_until = NULL,
      error_message = CASE WHEN error_message IS NOT NULL THEN ':pruned_text' END
    WHERE seq = ANY (gone.seqs);
    DELETE FROM receipts WHERE message = ANY (gone.seqs);
    IF gone.batch IS NULL THEN
      DELETE FROM contents WHERE seq = gone.content;
    ELSE
      -- Of two portions of a batch the second sees that nothing is left.
      PERFORM 1 FROM batches WHERE seq = gone.batch FOR NO KEY UPDATE;
      IF NOT EXISTS (SELECT 1 FROM messages m WHERE m.batch = gone.batch AND m.content <> 0) THEN
        DELETE FROM contents WHERE seq = gone.content;
        UPDATE batches SET pruned_at = time_1(p_now) WHERE seq = gone.batch;
      END IF;
    END IF;
  END LOOP;
END $$;
