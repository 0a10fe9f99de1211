-- The limits of carriers' routes, over all instances; lanes that are paused and batches that are stopped.

-- Connections that a carrier allows, by number from 1.
CREATE TABLE binds (
  route text COLLATE "C" NOT NULL,
  number int NOT NULL,
  holder text COLLATE "C" NOT NULL,
  until bigint NOT NULL,
  length bigint NOT NULL,
  PRIMARY KEY (route, number)
);

-- Lost at a crash, which costs a route one block.
CREATE UNLOGGED TABLE route_rates (
  route text COLLATE "C" PRIMARY KEY,
  next_at double precision NOT NULL
) WITH (fillfactor = 10);

-- By the owner of the service.
CREATE TABLE lane_pauses (
  lane text COLLATE "C" PRIMARY KEY,
  paused_at bigint NOT NULL
);
