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
];
