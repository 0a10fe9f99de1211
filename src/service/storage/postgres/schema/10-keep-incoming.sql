-- The release before joined the parts of a day.
CREATE OR REPLACE FUNCTION keep_incoming_1(p_now bigint, p_project text, p_id text, p_channel text, p_sender text,
  p_recipient text, p_subject text, p_text text, p_fingerprint text, p_series text, p_number int, p_total int)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  -- Parts come at once, over several connections.
  project_seq int := (lock_project_1(p_project)).seq;
  at bigint := time_1(p_now);
  earlier inbox;
  all_parts text[];
BEGIN
  :durable;
  IF p_series IS NOT NULL THEN
    FOR earlier IN SELECT * FROM inbox i WHERE i.project = project_seq AND i.series = p_series
      AND i.received_at > at - :parts_within ORDER BY i.seq DESC
    LOOP
      IF earlier.parts[p_number] = p_text THEN RETURN; END IF;
      CONTINUE WHEN earlier.parts[p_number] IS NOT NULL;
      all_parts := earlier.parts;
      all_parts[p_number] := p_text;
      UPDATE inbox i SET parts = all_parts, text = array_to_string(all_parts, '', ':missing_part')
      WHERE i.seq = earlier.seq;
      RETURN;
    END LOOP;
    all_parts := array_fill(NULL::text, ARRAY[p_total]);
    all_parts[p_number] := p_text;
  END IF;
  INSERT INTO inbox (id, project, channel, sender, recipient, subject, text, received_at, fingerprint, series, parts)
  VALUES (p_id, project_seq, p_channel, p_sender, p_recipient, p_subject,
    CASE WHEN all_parts IS NULL THEN p_text ELSE array_to_string(all_parts, '', ':missing_part') END,
    at, p_fingerprint, p_series, all_parts)
  ON CONFLICT (project, fingerprint) DO NOTHING;
END $$;
