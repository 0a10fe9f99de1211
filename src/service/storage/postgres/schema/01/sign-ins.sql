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

-- The refund of one message.
CREATE INDEX ledger_refunds ON ledger (subject_id) WHERE reason = 'refund';
