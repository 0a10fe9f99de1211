-- Of what releases before this one queue it is 0, until the next step: a project and a batch like any other. Of doubts it
-- says nothing. batch: 0 of a single message.
ALTER TABLE queue ADD COLUMN project int NOT NULL DEFAULT 0, ADD COLUMN batch bigint NOT NULL DEFAULT 0;

-- Whose turn it is in a lane and class: in the row of project 0 a project's, in that of a project one of its batches'.
-- taken: what a batch has had of its slice. Lost at a crash, which costs a turn.
CREATE UNLOGGED TABLE turns (
  lane text COLLATE "C" NOT NULL,
  class smallint NOT NULL,
  project int NOT NULL,
  next bigint NOT NULL,
  taken int NOT NULL,
  PRIMARY KEY (lane, class, project)
) WITH (fillfactor = 50);

-- The message that the key was used for, the first one of a batch; null for one of the release before.
ALTER TABLE idempotency ADD COLUMN message bigint;
