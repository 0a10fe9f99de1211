-- Marks messages whose recipients are not suppressed, and gives the reasons of the others, which stay in their leases.
-- Asked of those items alone that have obeys: whether opt-outs hold. p_projects: theirs. p_requests: whether any has one.
CREATE FUNCTION mark_4(p_now bigint, p_items json, p_projects text[], p_requests boolean)
RETURNS TABLE (seq bigint, reason text) LANGUAGE plpgsql :planned AS $$
#variable_conflict use_column
DECLARE
  suppressed json;
  others json := p_items;
BEGIN
  :durable;
  IF hold_reason_1() IS NOT NULL THEN RETURN; END IF;
  IF is_listed_1(p_projects) THEN
    IF is_erased_1(p_projects) AND EXISTS (
      SELECT 1 FROM json_to_recordset(p_items) AS i(obeys boolean, pseudonyms text[])
      WHERE i.obeys IS NOT NULL AND i.pseudonyms IS NULL) THEN
      RETURN QUERY SELECT NULL::bigint, 'erased';
      RETURN;
    END IF;
    SELECT json_object_agg(w.seq, w.reason) INTO suppressed FROM (
      SELECT i.seq, suppressed_1(m.project, m.recipient, coalesce(m.mailbox, m.recipient), i.pseudonyms,
        i.obeys) AS reason
      FROM json_to_recordset(p_items) AS i(seq bigint, id text, obeys boolean, pseudonyms text[])
        CROSS JOIN LATERAL (SELECT * FROM messages m WHERE m.seq = i.seq OFFSET 0) m
      WHERE i.obeys IS NOT NULL AND m.id = i.id AND m.status = 'queued' OFFSET 0) w
    WHERE w.reason IS NOT NULL;
  END IF;
  IF suppressed IS NOT NULL THEN
    RETURN QUERY SELECT s.key::bigint, s.value FROM json_each_text(suppressed) s;
    SELECT json_agg(i) INTO others FROM json_array_elements(p_items) i WHERE suppressed -> (i ->> 'seq') IS NULL;
    IF others IS NULL THEN RETURN; END IF;
  END IF;
  IF p_requests THEN RETURN QUERY SELECT m, NULL::text FROM mark_3(p_now, others) m;
  ELSE RETURN QUERY SELECT m, NULL::text FROM mark_2(p_now, others) m;
  END IF;
END $$;
