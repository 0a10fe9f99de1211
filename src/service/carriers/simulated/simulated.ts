import type { Channel } from '../../../contract/index.js';
import type { Clock } from '../../clock.js';
import { carrierFaultFor } from '../../fault-injection/faults.js';
import { whenFree } from '../../storage/sqlite/database/busy.js';
import { GroupCommit } from '../../storage/sqlite/database/group-commit.js';
import { type Database, openDatabase } from '../../storage/sqlite/database/open.js';
import {
  type Carrier,
  everyAttempt,
  type Fate,
  noLinkRoute,
  OutcomeUnknown,
  type Submission,
  type SubmitAnswer,
} from '../carrier.js';
import { type Run, runsOf } from './runs.js';

/** What the simulated carrier delivered, in its order. */
export interface DeliveryRecord {
  messageId: string;
  channel: Channel;
  to: string;
  text: string | null;
  subject: string | null;
  html: string | null;
  from: string | null;
  replyTo: string | null;
  route: string;
  deliveredAt: number;
}

/** `limit` keeps the newest. */
export interface OutboxFilter {
  to?: string;
  limit?: number;
}

export interface SimulatedCarrier extends Carrier {
  outbox(filter: OutboxFilter): AsyncIterable<DeliveryRecord>;
  /** How many deliveries were of a message that had been delivered before: 0 unless the service is wrong. */
  repeats(): Promise<number>;
  /** Whether a name is new; from then on it is not, until a reset. For what goes wrong once on demand. */
  isFirst(name: string): Promise<boolean>;
  reset(): Promise<void>;
  /** Gives up what it delays, now and until `resume`; those submissions throw. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

const migrations = [
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
  // Attempts below `before` were said not to have been taken, and never will be.
  'CREATE TABLE barred (reference TEXT PRIMARY KEY, before INTEGER NOT NULL) STRICT, WITHOUT ROWID',
  // Whose deliveries these are.
  'CREATE TABLE installation (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL, epoch INTEGER NOT NULL) STRICT',
];

export function openCarrierDatabase(path: string, check?: (database: Database) => void): Promise<Database> {
  const keepsCopy = path !== ':memory:';
  return openDatabase(path, {
    synchronous: 'off',
    migrations,
    keepsCopy,
    ...(check === undefined ? {} : { check }),
  });
}

interface DeliveryRow {
  seq: number;
  reference: string;
  channel: Channel;
  recipient: string;
  text: string | null;
  subject: string | null;
  html: string | null;
  sender: string | null;
  reply_to: string | null;
  route: string;
  delivered_at: number;
}

/** Submissions of one turn, and those of them that were taken. */
interface Arrival {
  submissions: Submission[];
  taken: Promise<Set<Submission>>;
}

const pageSize = 500;

/**
 * Mobile operators and a mail server that deliver into an outbox. It has a file of its own, apart from the
 * service's store, as another company would; a crash of the service's process does not touch what is in it.
 */
export function simulatedCarrier(database: Database, clock: Clock): SimulatedCarrier {
  const commits = new GroupCommit(database);
  // One statement for all that says the same costs half of one for each.
  const insertAll = database.prepare(
    `INSERT INTO deliveries (reference, recipient, channel, text, subject, html, sender, reply_to, route, delivered_at)
     SELECT value ->> 0, value ->> 1, :channel, :text, :subject, :html, :from, :replyTo, :route, :at
     FROM json_each(:addressed)`,
  );
  const selectAnyBarred = database.prepare('SELECT 1 FROM barred LIMIT 1');
  const selectBarred = database.prepare('SELECT 1 FROM barred WHERE reference = ? AND before > ?');
  const bar = database.prepare(
    `INSERT INTO barred (reference, before) VALUES (?, ?)
     ON CONFLICT DO UPDATE SET before = max(before, excluded.before)`,
  );
  const selectOne = database.prepare('SELECT delivered_at FROM deliveries WHERE reference = ?');
  const selectPage = database.prepare(
    `SELECT * FROM deliveries WHERE seq > :last AND (:to IS NULL OR recipient = :to) ORDER BY seq LIMIT ${pageSize}`,
  );
  /** What stands before the newest `limit` of them. */
  const selectStart = database.prepare(
    `SELECT coalesce(min(seq), ${Number.MAX_SAFE_INTEGER}) - 1 AS last FROM (
       SELECT seq FROM deliveries WHERE :to IS NULL OR recipient = :to ORDER BY seq DESC LIMIT :limit)`,
  );
  const countRepeats = database.prepare(
    'SELECT count(*) - count(DISTINCT reference) AS repeats FROM deliveries',
  );
  const insertLoss = database.prepare('INSERT INTO losses (reference) VALUES (?) ON CONFLICT DO NOTHING');
  const waiting = new Set<() => void>();
  let arriving: Arrival | null = null;
  let paused = false;

  /** What arrives together is written down together. */
  async function deliver(submission: Submission): Promise<void> {
    arriving ??= takeIn();
    arriving.submissions.push(submission);
    const taken = await arriving.taken;
    if (!taken.has(submission)) throw new OutcomeUnknown('a later attempt has taken the place of this one');
  }

  function takeIn(): Arrival {
    const submissions: Submission[] = [];
    const leave = () => {
      if (arriving?.submissions === submissions) arriving = null;
    };
    const taken = commits.run(() => {
      leave();
      const isAnyBarred = selectAnyBarred.get() !== undefined;
      const allowed = isAnyBarred ? submissions.filter((one) => !isBarred(one)) : submissions;
      for (const run of runsOf(allowed)) write(run);
      return new Set(allowed);
    });
    // Where it never came to be written, the next ones must not follow it.
    taken.catch(leave);
    return { submissions, taken };
  }

  function isBarred({ reference, attempt }: Submission): boolean {
    return selectBarred.get(reference, attempt) !== undefined;
  }

  function write([first, ...others]: Run): void {
    const { channel, text, subject, html, from, replyTo, route } = first;
    const addressed = JSON.stringify([first, ...others].map(({ reference, to }) => [reference, to]));
    insertAll.run({ addressed, channel, text, subject, html, from, replyTo, route, at: clock.now() });
  }

  function delay(milliseconds: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = clock.after(milliseconds, () => {
        waiting.delete(abandon);
        resolve();
      });
      const abandon = () => {
        cancel();
        reject(new OutcomeUnknown('the operator is closing'));
      };
      if (paused) abandon();
      else waiting.add(abandon);
    });
  }

  async function submit(submission: Submission): Promise<SubmitAnswer> {
    const fault = carrierFaultFor(submission.to);
    switch (fault?.kind) {
      case 'refused':
        return { kind: 'refused', reason: 'the recipient does not accept messages' };
      case 'refused_by_operator':
        if (submission.route === noLinkRoute) break;
        return { kind: 'refused', reason: `${submission.route} does not accept the message` };
      case 'delayed':
        await deliver(submission);
        await delay(fault.milliseconds);
        return { kind: 'accepted' };
      case 'hand_over_lost':
        if (await isFirst(submission.reference)) {
          throw new OutcomeUnknown('the operator could not be reached');
        }
        break;
      case 'answer_lost':
      case 'silent':
        await deliver(submission);
        throw new OutcomeUnknown('the operator did not answer');
    }
    await deliver(submission);
    return { kind: 'accepted' };
  }

  async function isFirst(name: string): Promise<boolean> {
    return (await commits.run(() => insertLoss.run(name).changes)) === 1;
  }

  async function inquire(reference: string, to: string, before: number): Promise<Fate> {
    const delivery = await commits.run(() => {
      const found = selectOne.get(reference) as { delivered_at: number } | undefined;
      if (found === undefined) bar.run(reference, before);
      return found;
    });
    if (delivery === undefined) return 'not_taken';
    const fault = carrierFaultFor(to);
    const age = clock.now() - delivery.delivered_at;
    // Delivered in the future: the clock was set back, and nobody knows how long it has been.
    const silent = fault?.kind === 'silent' && age >= 0 && age < fault.milliseconds;
    return silent ? 'unknown' : 'taken';
  }

  async function* outbox({ to: only, limit }: OutboxFilter): AsyncGenerator<DeliveryRecord> {
    const to = only ?? null;
    let last =
      limit === undefined
        ? 0
        : ((await whenFree(() => selectStart.get({ to, limit }))) as { last: number }).last;
    for (;;) {
      const rows = (await whenFree(() => selectPage.all({ to, last }))) as DeliveryRow[];
      for (const row of rows) {
        yield toRecord(row);
        last = row.seq;
      }
      if (rows.length < pageSize) return;
    }
  }

  return {
    submit,
    inquire,
    outbox,
    isFirst,
    repeats: async () => ((await whenFree(() => countRepeats.get())) as { repeats: number }).repeats,
    reset: () =>
      commits.run(() => {
        // What is fenced for good stays: a paused process may still come back with it.
        database.exec(
          `DELETE FROM deliveries; DELETE FROM losses; DELETE FROM barred WHERE before < ${everyAttempt}`,
        );
      }),
    pause() {
      paused = true;
      for (const abandon of waiting) abandon();
      waiting.clear();
    },
    resume() {
      paused = false;
    },
    async close() {
      await commits.close();
      // So that operator.db alone is whole: a connection leaves the -wal behind as long as it has statements.
      try {
        database.exec('PRAGMA wal_checkpoint(PASSIVE)');
      } finally {
        database.close();
      }
    },
  };
}

function toRecord(row: DeliveryRow): DeliveryRecord {
  return {
    messageId: row.reference,
    channel: row.channel,
    to: row.recipient,
    text: row.text,
    subject: row.subject,
    html: row.html,
    from: row.sender,
    replyTo: row.reply_to,
    route: row.route,
    deliveredAt: row.delivered_at,
  };
}
