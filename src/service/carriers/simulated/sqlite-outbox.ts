import type { Clock } from '../../clock.js';
import { whenFree } from '../../storage/sqlite/database/busy.js';
import type { Database } from '../../storage/sqlite/database/database.js';
import { GroupCommit } from '../../storage/sqlite/database/group-commit.js';
import { jsonObject } from '../../storage/sqlite/database/json-object.js';
import { checkpointBeforeClose, openDatabase } from '../../storage/sqlite/database/open.js';
import { sqliteSql } from '../../storage/sqlite/database/sql.js';
import type { Submission } from '../carrier.js';
import type { Outbox } from './outbox.js';
import { type Run, runsOf } from './runs.js';
import { sqlOutbox } from './sql-outbox.js';

export const outboxMigrations: readonly string[] = [
  `CREATE TABLE deliveries (
     seq INTEGER PRIMARY KEY,
     reference TEXT NOT NULL,
     channel TEXT NOT NULL,
     recipient TEXT NOT NULL,
     text TEXT,
     subject TEXT,
     html TEXT,
     sender TEXT,
     reply_to TEXT,
     route TEXT NOT NULL,
     delivered_at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX deliveries_reference ON deliveries (reference);
   CREATE TABLE losses (reference TEXT PRIMARY KEY) STRICT, WITHOUT ROWID`,
  // The fence: attempts below `before` were reported as not accepted, and never will be.
  'CREATE TABLE barred (reference TEXT PRIMARY KEY, before INTEGER NOT NULL) STRICT, WITHOUT ROWID',
  // Whose deliveries these are.
  'CREATE TABLE installation (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL, epoch INTEGER NOT NULL) STRICT',
];

export function openOutboxDatabase(path: string): Promise<Database> {
  return openDatabase(path, {
    synchronous: 'normal',
    migrations: outboxMigrations,
    keepsCopy: path !== ':memory:',
  });
}

/** Submissions written together, and which of them were delivered. */
interface Arrival {
  submissions: Submission[];
  delivered: Promise<(submission: Submission) => boolean>;
}

/** A separate file, as another company would have; a crash of the service's process leaves its contents intact. */
export function sqliteOutbox(database: Database, clock: Clock): Outbox {
  const commits = new GroupCommit(database);
  // One statement for all equal messages takes half as long as one for each.
  const insertAll = database.prepare(
    `INSERT INTO deliveries (reference, recipient, channel, text, subject, html, sender, reply_to, route, delivered_at)
     SELECT key, value, :channel, :text, :subject, :html, :from, :replyTo, :route, :at FROM json_each(:recipients)`,
  );
  const selectAnyFence = database.prepare('SELECT 1 FROM barred LIMIT 1');
  const selectFence = database.prepare('SELECT 1 FROM barred WHERE reference = ? AND before > ?');
  const fence = database.prepare(
    `INSERT INTO barred (reference, before) VALUES (?, ?)
     ON CONFLICT DO UPDATE SET before = max(before, excluded.before)`,
  );
  const selectOne = database.prepare('SELECT delivered_at FROM deliveries WHERE reference = ?');
  const selectNewest = database.prepare('SELECT coalesce(max(seq), 0) AS newest FROM deliveries');

  let arriving: Arrival | null = null;

  /** Of one tick: those of a batch are large work, for which later ones do not wait. */
  function arrival(): Arrival {
    const submissions: Submission[] = [];
    const delivered = new Promise<void>((resolve) => process.nextTick(resolve)).then(() => {
      arriving = null;
      return commits.run(() => writeAllowed(submissions), submissions.length);
    });
    return { submissions, delivered };
  }

  /** Those that are not fenced. */
  function writeAllowed(submissions: readonly Submission[]): (submission: Submission) => boolean {
    const isAnyFenced = selectAnyFence.get() !== undefined;
    const fenced = new Set(isAnyFenced ? submissions.filter(isFenced) : []);
    const allowed = fenced.size === 0 ? submissions : submissions.filter((one) => !fenced.has(one));
    for (const run of runsOf(allowed)) write(run);
    return (submission) => !fenced.has(submission);
  }

  function isFenced({ reference, attempt }: Submission): boolean {
    return selectFence.get(reference, attempt) !== undefined;
  }

  function write(run: Run): void {
    const [{ channel, text, subject, html, from, replyTo, route }] = run;
    const recipients = jsonObject(run, ({ reference, to }) => [reference, to]);
    insertAll.run({ recipients, channel, text, subject, html, from, replyTo, route, at: clock.now() });
  }

  const own = {
    deliver(submission: Submission) {
      arriving ??= arrival();
      arriving.submissions.push(submission);
      return arriving.delivered.then((isDelivered) => isDelivered(submission));
    },
    ageOrFence: (reference: string, before: number) =>
      commits.run(() => {
        const found = selectOne.get(reference) as { delivered_at: number } | undefined;
        if (found === undefined) fence.run(reference, before);
        return found === undefined ? null : clock.now() - found.delivered_at;
      }),
    newest: async () => ((await whenFree(() => selectNewest.get())) as { newest: number }).newest,
    async close() {
      await commits.close();
      try {
        checkpointBeforeClose(database);
      } finally {
        database.close();
      }
    },
  };
  const names = { fences: 'barred', firsts: 'losses', name: 'reference' };
  return sqlOutbox(sqliteSql(database, clock, commits, whenFree), names, own);
}
