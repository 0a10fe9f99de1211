/** Steps from one version of the schema to the next; those that were published never change. */
export const migrations: readonly string[] = [
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
  `
  -- Heartbeats of the processes that serve the data.
  CREATE TABLE instances (
    id TEXT PRIMARY KEY,
    version TEXT NOT NULL,
    address TEXT,
    carriers TEXT NOT NULL,
    queue TEXT NOT NULL,
    seen_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- A row while nothing may be sent.
  CREATE TABLE hold (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    reason TEXT NOT NULL
  ) STRICT;
  `,
  `
  -- scope: 'send', 'read' or both, with a comma. used_at: within a minute.
  ALTER TABLE keys ADD COLUMN scope TEXT NOT NULL DEFAULT 'send,read';
  ALTER TABLE keys ADD COLUMN expires_at INTEGER;
  ALTER TABLE keys ADD COLUMN used_at INTEGER;

  -- Why a credit was given; its subject_id is its own, so that it is given once.
  ALTER TABLE ledger ADD COLUMN note TEXT;
  CREATE UNIQUE INDEX ledger_credits ON ledger (subject_id) WHERE reason = 'credit';
  `,
  `
  -- Connections that a carrier allows over a route, by number from 1, and who has them.
  CREATE TABLE binds (
    route TEXT NOT NULL,
    number INTEGER NOT NULL,
    holder TEXT NOT NULL,
    process TEXT NOT NULL,
    until INTEGER NOT NULL,
    length INTEGER NOT NULL,
    PRIMARY KEY (route, number)
  ) STRICT, WITHOUT ROWID;

  -- Lanes that their owner has paused, and batches that were stopped.
  CREATE TABLE lane_pauses (lane TEXT PRIMARY KEY, paused_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  ALTER TABLE batches ADD COLUMN stopped_at INTEGER;
  `,
  `
  -- Messages from outside. series: the same in all parts of one text; parts: those that came, in order, as JSON.
  CREATE TABLE inbox (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL,
    channel TEXT NOT NULL,
    sender TEXT NOT NULL,
    recipient TEXT NOT NULL,
    subject TEXT,
    text TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    fingerprint TEXT,
    series TEXT,
    parts TEXT,
    UNIQUE (project, fingerprint)
  ) STRICT;
  CREATE INDEX inbox_project ON inbox (project);
  CREATE INDEX inbox_series ON inbox (project, series) WHERE series IS NOT NULL;

  -- Recipients that a project sends nothing more to.
  CREATE TABLE suppressions (
    seq INTEGER PRIMARY KEY,
    project INTEGER NOT NULL,
    recipient TEXT NOT NULL,
    reason TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (project, recipient)
  ) STRICT;
  CREATE INDEX suppressions_project ON suppressions (project);
  `,
  `
  -- The dashboard: links that open one session each, and sessions, by the SHA-256 of their token; where it is opened.
  CREATE TABLE sign_ins (
    hash BLOB PRIMARY KEY,
    project INTEGER NOT NULL,
    is_link INTEGER NOT NULL,
    length INTEGER NOT NULL,
    until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE dashboard (one INTEGER PRIMARY KEY CHECK (one = 1), url TEXT NOT NULL) STRICT;

  -- The refund of one message.
  CREATE INDEX ledger_refunds ON ledger (subject_id) WHERE reason = 'refund';
  `,
  `
  -- When the last message of the batch was pruned. A message that was has content 0 and an empty recipient.
  ALTER TABLE batches ADD COLUMN pruned_at INTEGER;
  `,
  `
  -- Sends of the last days to recipients that were erased: the caps count them. pseudonym: an HMAC.
  CREATE TABLE erasures (
    project INTEGER NOT NULL,
    pseudonym TEXT NOT NULL,
    message INTEGER NOT NULL,
    accepted_at INTEGER NOT NULL,
    PRIMARY KEY (project, pseudonym, message)
  ) STRICT, WITHOUT ROWID;

  -- The last run of the schedule; it has not ended while it goes on, or its process has died.
  CREATE TABLE prune_runs (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    begun_at INTEGER NOT NULL,
    ended_at INTEGER,
    is_repeated INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  CREATE INDEX inbox_received ON inbox (project, received_at);
  CREATE INDEX inbox_sender ON inbox (sender);
  CREATE INDEX receipts_unjoined ON receipts (received_at) WHERE message IS NULL;
  CREATE INDEX receipts_unjoined_to ON receipts (recipient) WHERE message IS NULL;
  `,
];
