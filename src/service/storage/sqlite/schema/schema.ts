import { publishedMigrations } from './published-schema.js';

/** Steps from one version of the schema to the next. */
export const migrations: readonly string[] = [
  ...publishedMigrations,
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
  `
  -- Messages of batches that may have arrived.
  CREATE INDEX messages_unknown ON messages (batch) WHERE delivery = 'unknown' AND batch IS NOT NULL;
  `,
  `
  -- Messages that ended in processes without a heartbeat, as JSON, until an instance counts them.
  CREATE TABLE left_ended (seq INTEGER PRIMARY KEY, ended TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
  `,
  `
  -- The answers that put a message off, as JSON: TriedRun.
  ALTER TABLE messages ADD COLUMN tried TEXT;
  `,
  `
  -- When it was marked; null for a message that was marked as it was accepted. reference: the end of the message's id, as
  -- a receipt gives it back.
  ALTER TABLE messages ADD COLUMN marked_at INTEGER;
  ALTER TABLE receipts ADD COLUMN reference TEXT;
  `,
  `
  -- The messages of a lease that are no neighbours, as JSON: [[first, last], ...].
  ALTER TABLE leases ADD COLUMN runs TEXT;

  -- Whose turn it is in a lane and class: in the row of project 0 a project's, in that of a project one of its batches'.
  -- taken: what it has had of its slice.
  CREATE TABLE turns (
    lane TEXT NOT NULL,
    class TEXT NOT NULL,
    project INTEGER NOT NULL,
    next INTEGER NOT NULL,
    taken INTEGER NOT NULL,
    PRIMARY KEY (lane, class, project)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX messages_turns ON messages (lane, batch IS NOT NULL, project, batch, due_at)
    WHERE due_at IS NOT NULL AND route IS NULL;
  `,
  `
  -- Requests that may go out again, until their messages end. first_at: when one of the message first did.
  CREATE TABLE requests (
    message INTEGER PRIMARY KEY,
    attempt INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    sealed BLOB NOT NULL
  ) STRICT;
  `,
  `
  -- A row from the beginning of a move to a database on. target: random, the same in the database; secret_file: where the
  -- secret was written; is_done: the database has everything, and nobody serves the folder any more.
  CREATE TABLE moves (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    target TEXT NOT NULL,
    database TEXT NOT NULL,
    secret_file TEXT NOT NULL,
    is_done INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  `,
  `
  -- is_opened: the database has opened, and may have been served.
  ALTER TABLE moves ADD COLUMN is_opened INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- The mailbox of an address that is written with a tag or in capitals: caps count it with all spellings and tags.
  ALTER TABLE messages ADD COLUMN mailbox TEXT;
  UPDATE messages SET mailbox = lower(CASE
      WHEN instr(recipient, '+') BETWEEN 2 AND instr(recipient, '@')
        THEN substr(recipient, 1, instr(recipient, '+') - 1) || substr(recipient, instr(recipient, '@'))
      ELSE recipient END)
    WHERE channel = 'email' AND (recipient <> lower(recipient) OR instr(recipient, '+') BETWEEN 2 AND instr(recipient, '@'));
  CREATE INDEX messages_mailbox ON messages (project, mailbox, created_at) WHERE mailbox IS NOT NULL AND refunded = 0;
  CREATE INDEX messages_spelled ON messages (project, lower(recipient)) WHERE mailbox IS NOT NULL;

  -- Recipients are suppressed in lower case; that of an erasure is no address.
  UPDATE OR IGNORE suppressions SET recipient = lower(recipient) WHERE instr(recipient, '@') > 0;
  DELETE FROM suppressions WHERE instr(recipient, '@') > 0 AND recipient <> lower(recipient);
  DROP INDEX inbox_sender;
  CREATE INDEX inbox_sender ON inbox (lower(sender));
  `,
  `
  -- Verifications of the last day are counted.
  CREATE INDEX verifications_project ON verifications (project, created_at);
  `,
  `
  -- The session of the dashboard that made a key.
  ALTER TABLE keys ADD COLUMN created_by TEXT;
  `,
  `
  -- other: a second id that a receipt names, under which it is kept too until one of them is joined.
  ALTER TABLE receipts ADD COLUMN other TEXT;
  -- Whether the ids of its receipts are in the form of SMPP.
  ALTER TABLE lanes ADD COLUMN has_normal_ids INTEGER NOT NULL DEFAULT 0;

  -- is_bulk: a single message of a list, as each row of a personalised job is.
  ALTER TABLE contents ADD COLUMN is_bulk INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- An older release that still runs claims nothing more: its holders have three parts. Nor does it suppress an address
  -- in capitals, which nobody would find.
  CREATE TRIGGER leases_have_releases BEFORE INSERT ON leases WHEN new.holder NOT GLOB '*.*.*.*'
    BEGIN SELECT RAISE(ABORT, 'a newer version of urtuu has taken over the data: end this one'); END;
  CREATE TRIGGER suppressions_are_compared BEFORE INSERT ON suppressions
    WHEN instr(new.recipient, '@') > 0 AND new.recipient <> lower(new.recipient)
    BEGIN SELECT RAISE(ABORT, 'a newer version of urtuu has taken over the data: end this one'); END;
  `,
  `
  -- Reasons were written in words. An older release that still runs knows no other.
  UPDATE suppressions SET reason =
    CASE reason WHEN 'asked by SMS for no more messages' THEN 'opt_out' ELSE 'unknown_recipient' END;
  CREATE TRIGGER suppressions_have_reasons BEFORE INSERT ON suppressions
    WHEN new.reason NOT IN ('opt_out', 'unknown_recipient', 'manual')
    BEGIN SELECT RAISE(ABORT, 'a newer version of urtuu has taken over the data: end this one'); END;
  `,
  `
  -- Where others reach the service, over https: in links of emails.
  ALTER TABLE dashboard ADD COLUMN public_url TEXT;
  `,
  `
  -- is_bulk: a queued single message of a list. It takes its turn with the batches, and waits with them in quiet hours.
  ALTER TABLE messages ADD COLUMN is_bulk INTEGER NOT NULL DEFAULT 0;
  DROP INDEX IF EXISTS messages_waiting;
  DROP INDEX IF EXISTS messages_overdue;
  DROP INDEX IF EXISTS messages_turns;
  CREATE INDEX messages_waiting ON messages (lane, batch IS NOT NULL OR is_bulk, due_at)
    WHERE due_at IS NOT NULL AND route IS NULL;
  UPDATE messages SET is_bulk = 1 WHERE due_at IS NOT NULL AND route IS NULL AND batch IS NULL AND channel = 'email'
    AND content IN (SELECT seq FROM contents WHERE is_bulk);
  CREATE INDEX messages_overdue ON messages (lane, batch IS NOT NULL OR is_bulk, bound_at)
    WHERE due_at IS NOT NULL AND route IS NULL AND bound_at IS NOT NULL;
  CREATE INDEX messages_turns ON messages (lane, batch IS NOT NULL OR is_bulk, project, batch, due_at)
    WHERE due_at IS NOT NULL AND route IS NULL;

  -- Projects with quiet hours.
  CREATE INDEX projects_quiet ON projects (seq) WHERE instr(settings, '"quiet_hours":"');
  `,
  `
  -- The carrier's own code of a failure.
  ALTER TABLE receipts ADD COLUMN code TEXT;
  `,
  `
  -- What has begun on a route in each quarter of an hour, [[end, count], ...], and when its carrier's limit of a day was
  -- reached last.
  CREATE TABLE route_days (
    route TEXT PRIMARY KEY,
    slots TEXT NOT NULL,
    reached_at INTEGER
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Events: what is reported to a project that asks for it. Of others nothing is recorded.
  -- line: of its events, random; null if nobody asks.
  ALTER TABLE projects ADD COLUMN line INTEGER;
  CREATE INDEX projects_line ON projects (line) WHERE line IS NOT NULL;

  -- numbered, deleted: the highest number that was given to an event, and that of one that was deleted. heard_at: the last
  -- call, within a minute. is_begun: whatever is written from now on is recorded.
  CREATE TABLE event_lines (
    line INTEGER PRIMARY KEY, heard_at INTEGER NOT NULL, is_begun INTEGER NOT NULL DEFAULT 0,
    numbered INTEGER NOT NULL DEFAULT 0, deleted INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  -- number: given when it is first read. subject: the seq of a message, a batch, or a row of inbox or suppressions.
  CREATE TABLE events (
    seq INTEGER PRIMARY KEY, line INTEGER NOT NULL, number INTEGER,
    type TEXT NOT NULL, subject INTEGER NOT NULL, at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX events_line ON events (line, number);
  -- SQLite gives the seq of a deleted row to a later one, which no event is about.
  CREATE INDEX events_erasable ON events (type, subject)
    WHERE type IN ('message.received', 'recipient.suppressed');
  CREATE TRIGGER inbox_leaves_events AFTER DELETE ON inbox
    BEGIN UPDATE events SET subject = 0 WHERE type = 'message.received' AND subject = old.seq; END;
  CREATE TRIGGER suppressions_leave_events AFTER DELETE ON suppressions
    BEGIN UPDATE events SET subject = 0 WHERE type = 'recipient.suppressed' AND subject = old.seq; END;
  `,
];
