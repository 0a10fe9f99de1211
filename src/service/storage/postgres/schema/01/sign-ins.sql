-- The dashboard: links that open one session each, and sessions, by the SHA-256 of their token; where it is opened.

-- Where a row was written: see hold.
CREATE FUNCTION home_1() RETURNS text LANGUAGE sql VOLATILE AS $$ SELECT place_1() || ' ' || timeline_1() $$;

-- Out of a dump, or from before a failover, is none: the link may have been used since, and the session ended.
CREATE FUNCTION is_of_home_1(p_home text, p_written bigint, p_xmin xid) RETURNS boolean LANGUAGE sql VOLATILE AS $$
  SELECT p_home = home_1() AND p_xmin::text::bigint = p_written
$$;

CREATE TABLE sign_ins (
  hash bytea PRIMARY KEY,
  project int NOT NULL,
  is_link boolean NOT NULL,
  length bigint NOT NULL,
  until bigint NOT NULL,
  home text NOT NULL DEFAULT home_1(),
  written bigint NOT NULL DEFAULT transaction_1()
);

CREATE TABLE dashboard (
  one int PRIMARY KEY CHECK (one = 1),
  url text NOT NULL,
  place text NOT NULL DEFAULT place_1(),
  written bigint NOT NULL DEFAULT transaction_1()
);

-- Out of a dump it leads to the service that was dumped; after a failover the same instances answer there.
CREATE FUNCTION dashboard_url_1() RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT url FROM dashboard WHERE place = place_1() AND xmin::text::bigint = written
$$;

-- The refund of one message.
CREATE INDEX ledger_refunds ON ledger (subject_id) WHERE reason = 'refund';

CREATE FUNCTION add_sign_in_1(p_now bigint, p_hash bytea, p_project int, p_is_link boolean, p_length bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  at bigint := time_1(p_now);
BEGIN
  :durable;
  DELETE FROM sign_ins WHERE NOT (:is_good);
  INSERT INTO sign_ins (hash, project, is_link, length, until)
  VALUES (p_hash, p_project, p_is_link, p_length, at + p_length);
END $$;

-- The lock of the deleted row lets one of many users of a link through.
CREATE FUNCTION open_session_1(p_now bigint, p_link bytea, p_hash bytea, p_length bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  at bigint := time_1(p_now);
  used int;
BEGIN
  :durable;
  DELETE FROM sign_ins WHERE hash = p_link AND is_link AND is_of_home_1(home, written, xmin) AND :is_good
  RETURNING project INTO used;
  IF used IS NULL THEN RETURN NULL; END IF;
  PERFORM add_sign_in_1(p_now, p_hash, used, false, p_length);
  RETURN (SELECT id FROM projects WHERE seq = used);
END $$;

CREATE FUNCTION find_session_1(p_now bigint, p_hash bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  at bigint := time_1(p_now);
BEGIN
  RETURN (SELECT p.id FROM sign_ins s JOIN projects p ON p.seq = s.project
    WHERE s.hash = p_hash AND NOT s.is_link AND is_of_home_1(home, written, s.xmin) AND :is_good);
END $$;
