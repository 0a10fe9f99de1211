import type { Clock } from '../../clock.js';
import type { Admitted } from '../admission.js';
import type { Instances } from '../instances.js';
import type { PolledChanges } from '../shared/polled-changes.js';
import type { PseudonymOf } from '../shared/secret.js';
import { createInstances } from '../sql/instances.js';
import { createStore, type OwnParts } from '../sql/store.js';
import type { Store } from '../store.js';
import { prepareAcceptance } from './accept/acceptance.js';
import { prepareMessageBlocks } from './accept/message-blocks.js';
import { prepareRefusals } from './accept/refusals.js';
import { prepareSuppressed } from './accept/suppressed.js';
import { prepareClockCorrections } from './clock-corrections.js';
import { whenFree } from './database/busy.js';
import type { Database } from './database/database.js';
import { GroupCommit, type GroupCommitOptions } from './database/group-commit.js';
import { checkVersion, type OpenOptions, openDatabase } from './database/open.js';
import { sqliteSql } from './database/sql.js';
import { tickReads } from './database/tick-reads.js';
import { prepareClaims } from './dispatch/claims.js';
import { prepareFinalization } from './dispatch/finalization.js';
import { prepareHolds } from './dispatch/holds.js';
import { prepareLeases } from './dispatch/leases.js';
import { prepareQuiet } from './dispatch/quiet.js';
import { prepareReceipts } from './dispatch/receipts.js';
import { prepareReports } from './dispatch/reports.js';
import { prepareStopBatch } from './dispatch/stop-batch.js';
import { prepareTries } from './dispatch/tries.js';
import { prepareUnfinished } from './dispatch/unfinished.js';
import { prepareWork } from './dispatch/work.js';
import { preparePruneMessages } from './erase/prune-messages.js';
import { prepareResets } from './erase/resets.js';
import { prepareProjects } from './projects.js';
import { prepareRequests } from './requests.js';
import { migrations } from './schema/schema.js';

/** Opens the file of a store, or a store in memory with `:memory:`. */
export function openStoreDatabase(
  path: string,
  options: Pick<OpenOptions, 'isAlone' | 'check'> = {},
): Promise<Database> {
  const keepsCopy = path !== ':memory:';
  return openDatabase(path, { synchronous: 'full', migrations, keepsCopy, ...options });
}

export interface SqliteStoreOptions extends GroupCommitOptions {
  /** Throws if nothing may be read any more. */
  check?: () => void;
}

export interface SqliteStore extends Store {
  instances: Instances;
  /** Like Storage's. */
  check(): Promise<void>;
  /** Null for an unknown, revoked or expired key. */
  findCaller(hash: Uint8Array, idempotencyKey: string | null): Promise<Omit<Admitted, 'taken'> | null>;
  /** Resolves when everything waiting was committed or refused; the database stays open. */
  close(): Promise<void>;
}

export function sqliteStore(
  database: Database,
  clock: Clock,
  changes: PolledChanges,
  pseudonymOf: PseudonymOf,
  options: SqliteStoreOptions = {},
): SqliteStore {
  const { check = () => {} } = options;
  const now = () => clock.now();
  const commits = new GroupCommit(database, options);
  const read = <Result>(work: () => Result): Promise<Result> =>
    whenFree(() => {
      check();
      return work();
    });
  const readWithOthers = tickReads(database, check);
  const corrections = prepareClockCorrections(database);
  const projects = prepareProjects(database, now);
  const leases = prepareLeases(database, clock);
  const quiet = prepareQuiet(database, projects, clock);
  const requests = prepareRequests(database, quiet, now);
  const reports = prepareReports(database);
  const stopBatch = prepareStopBatch(database, { projects, leases, requests, reports }, now);
  const pruneMessages = whenUsed(() => preparePruneMessages(database, pseudonymOf, now));
  const holds = prepareHolds(database);
  const resets = prepareResets(database, projects, now);
  const suppressed = prepareSuppressed(database, projects, pseudonymOf);
  const refusals = prepareRefusals(database, corrections, { suppressed, pseudonymOf });
  const blocks = prepareMessageBlocks(database);
  const acceptance = prepareAcceptance(database, projects, leases, refusals, blocks, now);
  const tries = prepareTries(database);
  const receipts = prepareReceipts(database, reports, now);
  const parts = { leases, refusals, suppressed, tries, receipts, requests, quiet };
  const claims = prepareClaims(database, projects, parts, clock);
  const unfinished = whenUsed(() => prepareUnfinished(database, leases, claims));
  const ending = { tries, requests, reports };
  const finalization = prepareFinalization(database, projects, leases, receipts, ending, now);
  const work = prepareWork(database, { leases, holds, quiet }, clock);
  const sql = sqliteSql(database, clock, commits, read);

  /** Whether nothing can be claimed. */
  const isClosed = () => holds.reason() !== null || resets.isUnderWay();

  const own: OwnParts = {
    beginReset: (owner, holdMs) => commits.run(() => resets.begin(owner, holdMs)),
    reset: (balance, holdMs) => commits.run(() => resets.empty(balance, holdMs)),
    endReset: (owner) => commits.run(() => resets.end(owner)),

    acceptMessage: (message) => commits.run(() => acceptance.acceptMessage(message)),
    acceptBatch: (batch) => commits.run(() => acceptance.acceptBatch(batch), batch.recipients.length),
    acceptVerification: (verification) => commits.run(() => acceptance.acceptVerification(verification)),

    claimMessages: (claim) =>
      commits.run(
        () => (isClosed() ? [] : claims.claimMessages(claim)),
        // Few single messages wait at the same time.
        claim.class === 'single' ? 1 : claim.limit,
      ),
    claimDoubts: (claim) => commits.run(() => (isClosed() ? [] : claims.claimDoubts(claim)), claim.limit),
    renewLeases: (tokens, leaseMs) =>
      commits.run(() => tokens.map((token) => leases.renew(token, leaseMs)), tokens.length),
    endLeases: () => commits.run(() => leases.endOver()),
    markSubmitting: (marks) =>
      commits.run(
        () => (holds.reason() === null ? claims.markSubmitting(marks) : marks.map(() => false)),
        marks.length,
      ),
    markRepeating: (claimed, withinMs) =>
      commits.run(() => {
        if (isClosed() || suppressed.reasonsOf([{ claimed }]).size > 0) return null;
        return requests.markRepeating(claimed, withinMs);
      }),
    postponeMessages: (messages) => commits.run(() => claims.postponeMessages(messages), messages.length),
    leaveInDoubt: (doubts) => commits.run(() => claims.leaveInDoubt(doubts), doubts.length),
    finalizeMessages: (finalizations, answer) =>
      commits.run(() => finalization.finalizeMessages(finalizations, answer), finalizations.length),
    recordReceipts: (received, answer) =>
      commits.run(
        () => received.flatMap((receipt) => finalization.recordReceipt(receipt, claims.read, answer)),
        received.length,
      ),
    hold: (reason) => commits.run(() => holds.begin(reason)),
    claimUnfinished: (claim) =>
      commits.run(() => (holds.reason() === null ? [] : unfinished().claim(claim)), claim.limit),
    release: () =>
      commits.run(() => {
        if (holds.reason() === null) return false;
        leases.endAll();
        holds.end();
        return true;
      }),
    pruneMessages: (messages, erased) =>
      commits.run(() => pruneMessages()(messages, erased), messages.length),
    stopBatch: (id, error) => commits.run(() => stopBatch(id, error), 1_000),
    nextWork: (names) => read(() => work.nextWork(names)),
    hasDue: () => read(() => work.hasDue()),
    findWaiting: (lane, projectIds) => read(() => work.findWaiting(lane, projectIds)),
  };
  const engine = {
    ...{ sql, pseudonymOf },
    correctLife: ({ began_at }: { began_at: number }, at: number) =>
      commits.run(() => corrections.asOf(began_at, at)),
  };
  const store = createStore(engine, own, (topics) => {
    for (const topic of topics) {
      if (topic === 'reset') changes.tellAll();
      else changes.tell(topic);
    }
  });

  return {
    ...store,
    findCaller: (hash, key) => readWithOthers(() => projects.findCaller(hash, key)),
    async check() {
      await read(() => checkVersion(database, migrations));
      // More pages than a send writes, which a full disk does not take: SQLite writes only those that differ. The row is
      // stale, so nobody lists it, and the next heartbeat removes it.
      await sql.write(
        `INSERT INTO :s.instances (id, version, carriers, queue, seen_at) VALUES ('', '', '[]', :queue, 0)
         ON CONFLICT (id) DO UPDATE SET queue = excluded.queue`,
        { queue: `${now()} `.repeat(6_000) },
      );
    },
    instances: createInstances(sql),

    close: () => commits.close(),
  };
}

/** Prepared when first used, because its statements would slow down every start. */
function whenUsed<Part>(prepare: () => Part): () => Part {
  let part: Part | undefined;
  return () => {
    part ??= prepare();
    return part;
  };
}
