-- In PL/pgSQL even where a query would do: its plans are kept, those of SQL functions are made anew at each call.

CREATE FUNCTION time_1(p_given bigint) RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT coalesce(p_given, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
$$;

-- An array as rows. Of unnest the planner expects ten: it joins a thousand with a thousand by comparing each with each.
CREATE FUNCTION rows_1(p_items anyarray) RETURNS SETOF anyelement LANGUAGE plpgsql STABLE ROWS 1000 AS $$
BEGIN
  RETURN QUERY SELECT * FROM unnest(p_items);
END $$;

CREATE FUNCTION is_resetting_1(p_at bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RETURN EXISTS (SELECT 1 FROM resets WHERE until > p_at AND until <= p_at + 60000);
END $$;

-- Sends of the last days to recipients that were erased: the caps count them. pseudonym: an HMAC.
CREATE TABLE erasures (
  project int NOT NULL,
  pseudonym text COLLATE "C" NOT NULL,
  message bigint NOT NULL,
  counts_at bigint NOT NULL,
  PRIMARY KEY (project, pseudonym, message)
);

-- When counted messages to a recipient were accepted before one, the newest first; with its pseudonym, those that were
-- erased since as well.
CREATE FUNCTION earlier_1(p_project int, p_recipient text, p_after bigint, p_before bigint, p_limit int,
  p_pseudonym text DEFAULT NULL)
RETURNS bigint[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF p_pseudonym IS NOT NULL THEN
    RETURN ARRAY(SELECT counts_at FROM (
      SELECT counts_at FROM unnest(earlier_1(p_project, p_recipient, p_after, p_before, p_limit)) AS m(counts_at)
      UNION ALL
      SELECT counts_at FROM erasures WHERE project = p_project AND pseudonym = p_pseudonym
        AND counts_at > p_after AND message < p_before) e
      ORDER BY counts_at DESC LIMIT p_limit);
  END IF;
  -- seq + 0: not by the index of the project's messages, which looks as good while there are no statistics.
  RETURN ARRAY(SELECT counts_at FROM messages
    WHERE project = p_project AND recipient = p_recipient AND NOT refunded AND counts_at > p_after
      AND seq + 0 < p_before
    ORDER BY counts_at DESC LIMIT p_limit);
END $$;
