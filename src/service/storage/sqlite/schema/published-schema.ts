/** The first steps of the schema. Data of releases has them, so they never change. */
export const publishedMigrations: readonly string[] = [
  `
  CREATE TABLE projects (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    balance INTEGER NOT NULL CHECK (balance >= 0),
    settings TEXT NOT NULL DEFAULT '{}',
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES projects,
    hash BLOB NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE ledger (
    seq INTEGER PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES projects,
    amount INTEGER NOT NULL,
    reason TEXT NOT NULL,
    subject_id TEXT,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE contents (
    seq INTEGER PRIMARY KEY,
    text TEXT,
    html TEXT,
    subject TEXT,
    sender TEXT,
    reply_to TEXT,
    sealed BLOB
  ) STRICT;

  -- The messages of a batch follow each other from first_message on.
  CREATE TABLE batches (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES projects,
    channel TEXT NOT NULL,
    total INTEGER NOT NULL,
    sent INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    credits INTEGER NOT NULL,
    first_message INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    completed_at INTEGER
  ) STRICT;

  -- due_at: when a queued message may be claimed; null while it is leased and once it is settled.
  -- pending_key: the idempotency key whose answer is bound when it is settled.
  CREATE TABLE messages (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL,
    batch INTEGER,
    content INTEGER NOT NULL,
    channel TEXT NOT NULL,
    recipient TEXT NOT NULL,
    operator TEXT,
    status TEXT NOT NULL,
    parts INTEGER,
    rate_multiplier REAL,
    credits INTEGER NOT NULL,
    error_code TEXT,
    error_message TEXT,
    created_at INTEGER NOT NULL,
    sent_at INTEGER,
    refunded INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER,
    lease TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    pending_key TEXT
  ) STRICT;
  CREATE INDEX messages_due ON messages (due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX messages_recent ON messages (project, recipient, created_at) WHERE refunded = 0;

  -- The messages of a lease are between first_message and last_message; open counts those not given back.
  CREATE TABLE leases (
    token TEXT PRIMARY KEY,
    until INTEGER NOT NULL,
    first_message INTEGER NOT NULL,
    last_message INTEGER NOT NULL,
    open INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Keys come in no order: the wide rows follow each other, and the narrow index alone is written all over.
  CREATE TABLE idempotency (
    seq INTEGER PRIMARY KEY,
    project INTEGER NOT NULL,
    key TEXT NOT NULL,
    status INTEGER,
    body TEXT,
    UNIQUE (project, key)
  ) STRICT;

  CREATE TABLE verifications (
    id TEXT PRIMARY KEY,
    project INTEGER NOT NULL,
    message INTEGER NOT NULL UNIQUE,
    code_hash BLOB NOT NULL,
    status TEXT NOT NULL,
    attempts_remaining INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    verified_at INTEGER
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Whose data this is. complete is 0 until all its files were made; wal_follows is 1 where more is in the -wal.
  CREATE TABLE installation (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    secret_fingerprint BLOB,
    complete INTEGER NOT NULL,
    wal_follows INTEGER NOT NULL
  ) STRICT;

  -- Messages up to last_message that are later than at were accepted before the clock was set back to it.
  CREATE TABLE clock_corrections (
    last_message INTEGER PRIMARY KEY,
    at INTEGER NOT NULL
  ) STRICT;
  `,
  `
  -- lane: the queue of its next route. route: set while a submission over it may be under way (the mark, whose number
  -- is attempts), and once it is sent. doubt_ms: how long the mark's doubt lasts; doubt_until: set while it does.
  -- bound_at: when a carrier has said "later" for long enough; tries: what its delay grows with.
  -- An older release that still runs gives no lane; the default brings its messages to one that is claimed.
  ALTER TABLE messages ADD COLUMN lane TEXT NOT NULL DEFAULT 'email';
  ALTER TABLE messages ADD COLUMN route TEXT;
  ALTER TABLE messages ADD COLUMN doubt_ms INTEGER;
  ALTER TABLE messages ADD COLUMN doubt_until INTEGER;
  ALTER TABLE messages ADD COLUMN bound_at INTEGER;
  ALTER TABLE messages ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE messages ADD COLUMN delivery TEXT;
  UPDATE messages SET lane = channel WHERE status = 'queued';
  -- A claim may have submitted it: the route is not known, and its carrier is asked.
  UPDATE messages SET route = '' WHERE status = 'queued' AND attempts > 0;
  UPDATE messages SET doubt_until = due_at + 300000 WHERE due_at IS NOT NULL AND route IS NOT NULL;
  DROP INDEX messages_due;
  CREATE INDEX messages_waiting ON messages (lane, batch IS NOT NULL, due_at)
    WHERE due_at IS NOT NULL AND route IS NULL;
  CREATE INDEX messages_overdue ON messages (lane, batch IS NOT NULL, bound_at)
    WHERE due_at IS NOT NULL AND route IS NULL AND bound_at IS NOT NULL;
  CREATE INDEX messages_doubtful ON messages (lane, due_at) WHERE due_at IS NOT NULL AND route IS NOT NULL;
  CREATE INDEX messages_in_doubt ON messages (recipient) WHERE doubt_until IS NOT NULL;

  -- length: milliseconds it was given for. holder: its process, see processes.ts.
  ALTER TABLE leases ADD COLUMN length INTEGER NOT NULL DEFAULT 5000;
  ALTER TABLE leases ADD COLUMN holder TEXT;
  -- An older release that still runs submits without marks: it ends what it has, and claims nothing more.
  CREATE TRIGGER leases_have_holders BEFORE INSERT ON leases
    WHEN new.holder IS NULL AND NOT (new.token >= 'reset:' AND new.token < 'reset;')
    BEGIN SELECT RAISE(ABORT, 'a newer version of urtuu has taken over the data: end this one'); END;

  -- One row for a submitted segment and its receipt, whichever comes first.
  CREATE TABLE receipts (
    route TEXT NOT NULL,
    carrier_id TEXT NOT NULL,
    recipient TEXT NOT NULL,
    message INTEGER,
    submitted_at INTEGER,
    state TEXT,
    received_at INTEGER,
    PRIMARY KEY (route, carrier_id, recipient)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX receipts_message ON receipts (message) WHERE message IS NOT NULL;
  `,
  `
  -- Lists: a project's messages, and those to one recipient, refunded ones too.
  CREATE INDEX messages_project ON messages (project);
  CREATE INDEX batches_project ON batches (project);
  DROP INDEX messages_recent;
  CREATE INDEX messages_recent ON messages (project, recipient, created_at, refunded);

  -- The times of the messages from block * 1024 + 1 on, 1,024 of them, once all were accepted.
  CREATE TABLE message_blocks (
    block INTEGER PRIMARY KEY,
    earliest INTEGER NOT NULL,
    latest INTEGER NOT NULL
  ) STRICT;
  INSERT INTO message_blocks
    SELECT (seq - 1) / 1024 AS block, min(created_at), max(created_at) FROM messages
    GROUP BY block HAVING block < (SELECT max(seq) FROM messages) / 1024;
  `,
  `
  -- Lanes of real carriers that the data was ever served with.
  CREATE TABLE lanes (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

  -- First characters of a key, and its name for people; a key of an older release has neither.
  ALTER TABLE keys ADD COLUMN prefix TEXT;
  ALTER TABLE keys ADD COLUMN label TEXT;
  `,
];
