-- Heartbeats of the instances.

CREATE TABLE instances (
  id text COLLATE "C" PRIMARY KEY,
  version text NOT NULL,
  address text,
  carriers text NOT NULL,
  queue text NOT NULL,
  seen_at bigint NOT NULL
);
