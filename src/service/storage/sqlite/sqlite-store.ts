import type { Clock } from '../../clock.js';
import type { Admitted } from '../admission.js';
import { keyTopic, messageTopic } from '../changes.js';
import type { Finalized } from '../dispatching.js';
import { countInParts } from '../insights.js';
import type { Instances } from '../instances.js';
import { pruneRows } from '../pruning.js';
import type { PolledChanges } from '../shared/polled-changes.js';
import type { PseudonymOf } from '../shared/secret.js';
import type { Store } from '../store.js';
import { prepareAcceptance } from './accept/acceptance.js';
import { prepareMessageBlocks } from './accept/message-blocks.js';
import { prepareRefusals } from './accept/refusals.js';
import { prepareClockCorrections } from './clock-corrections.js';
import { whenFree } from './database/busy.js';
import type { Database } from './database/database.js';
import { GroupCommit, type GroupCommitOptions } from './database/group-commit.js';
import { checkVersion, type OpenOptions, openDatabase } from './database/open.js';
import { prepareBinds } from './dispatch/binds.js';
import { prepareClaims } from './dispatch/claims.js';
import { prepareDepth } from './dispatch/depth.js';
import { prepareFinalization } from './dispatch/finalization.js';
import { prepareHolds } from './dispatch/holds.js';
import { prepareLanes } from './dispatch/lanes.js';
import { prepareLeases } from './dispatch/leases.js';
import { prepareReceipts } from './dispatch/receipts.js';
import { prepareTries } from './dispatch/tries.js';
import { prepareUnfinished } from './dispatch/unfinished.js';
import { prepareWork } from './dispatch/work.js';
import { preparePruning } from './erase/pruning.js';
import { prepareResets } from './erase/resets.js';
import { prepareInbox } from './inbox.js';
import { prepareInstances } from './instances.js';
import { prepareProjects } from './projects.js';
import { prepareInsights } from './read/insights.js';
import { prepareLists } from './read/lists.js';
import { prepareReading } from './read/reading.js';
import { sharedReads } from './read/shared-reads.js';
import { prepareRequests } from './requests.js';
import { migrations } from './schema/schema.js';
import { prepareSignIns } from './sign-ins.js';
import { prepareSuppressions } from './suppressions.js';

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
  const corrections = prepareClockCorrections(database);
  const projects = prepareProjects(database, now);
  const instances = whenUsed(() => prepareInstances(database, now));
  const leases = prepareLeases(database, clock);
  const requests = prepareRequests(database, now);
  const lanes = prepareLanes(database, { projects, leases, requests }, now);
  const pruning = whenUsed(() => preparePruning(database, projects, pseudonymOf, now));
  const depth = whenUsed(() => prepareDepth(database, now));
  const holds = prepareHolds(database);
  const binds = whenUsed(() => prepareBinds(database, clock));
  const resets = prepareResets(database, projects, now);
  const refusals = prepareRefusals(database, corrections, pseudonymOf);
  const blocks = prepareMessageBlocks(database);
  const acceptance = prepareAcceptance(database, projects, leases, refusals, blocks, now);
  const tries = prepareTries(database);
  const receipts = prepareReceipts(database, now);
  const claims = prepareClaims(database, projects, { leases, refusals, tries, receipts, requests }, clock);
  const unfinished = whenUsed(() => prepareUnfinished(database, leases, claims));
  const finalization = prepareFinalization(database, projects, leases, receipts, { tries, requests }, now);
  const work = prepareWork(database, leases, holds, lanes, clock);
  const reading = prepareReading(database, projects, corrections, now);
  const inbox = whenUsed(() => prepareInbox(database, projects, now));
  const suppressions = whenUsed(() => prepareSuppressions(database, projects, pseudonymOf, now));
  const lists = whenUsed(() => prepareLists(database, projects, blocks));
  const insights = whenUsed(() => prepareInsights(database, projects, blocks, now));
  const signIns = whenUsed(() => prepareSignIns(database, projects, now));

  /** Whether nothing can be claimed. */
  const isClosed = () => holds.reason() !== null || resets.isUnderWay();

  async function accept<Result extends { kind: string; claimed?: readonly unknown[] }>(
    run: () => Result,
    rows = 1,
  ): Promise<Result> {
    const result = await commits.run(run, rows);
    if (result.claimed?.length === 0) changes.tell('due');
    return result;
  }

  async function thenDue<Result>(run: () => Result, rows = 1): Promise<Result> {
    const result = await commits.run(run, rows);
    changes.tell('due');
    return result;
  }

  function tellFinalized({ message }: Finalized, pendingKey: string | null): void {
    if (message.batchId === null) changes.tell(messageTopic(message.id));
    if (pendingKey !== null) changes.tell(keyTopic(message.projectId, pendingKey));
  }

  return {
    createProject: (project) => commits.run(() => projects.createProject(project)),
    getProject: sharedReads((id) => read(() => projects.getProject(id))),
    listProjects: () => read(() => projects.listProjects()),
    changeSettings: (projectId, change) => commits.run(() => projects.changeSettings(projectId, change)),
    recordLanes: (names) =>
      names.length === 0 ? read(() => lanes.record([])) : commits.run(() => lanes.record(names)),
    normalizeReceiptIds: (names) => commits.run(() => receipts.normalizeIds(names)),
    renameProject: (id, name) => commits.run(() => projects.renameProject(id, name)),
    credit: (...credit) => commits.run(() => projects.credit(...credit)),
    listLedger: (projectId) => read(() => projects.listLedger(projectId)),
    listLedgerPage: (projectId, page) => read(() => projects.listLedgerPage(projectId, page)),
    beginReset: (owner, holdMs) => commits.run(() => resets.begin(owner, holdMs)),
    reset: (balance, holdMs) => commits.run(() => resets.empty(balance, holdMs)),
    async endReset(owner) {
      await commits.run(() => resets.end(owner));
      changes.tellAll();
    },

    addKey: (key, maxActive) => commits.run(() => projects.addKey(key, maxActive)),
    addFirstKey: (key) => commits.run(() => projects.addFirstKey(key)),
    listKeys: (projectId) => read(() => projects.listKeys(projectId)),
    revokeKey: (projectId, id) => commits.run(() => projects.revokeKey(projectId, id)),
    recordKeyUse: (id) => commits.run(() => projects.recordKeyUse(id)),
    findCaller: (hash, key) => read(() => projects.findCaller(hash, key)),

    findAnswer: (projectId, key) => read(() => refusals.findAnswer(projects.numberOf(projectId), key)),
    acceptMessage: (message) => accept(() => acceptance.acceptMessage(message)),
    acceptBatch: (batch) => accept(() => acceptance.acceptBatch(batch), batch.recipients.length),
    acceptVerification: (verification) => accept(() => acceptance.acceptVerification(verification)),

    claimMessages: (claim) =>
      commits.run(
        () => (isClosed() ? [] : claims.claimMessages(claim)),
        // Few single messages wait at the same time.
        claim.class === 'single' ? 1 : claim.limit,
      ),
    claimDoubts: (claim) => commits.run(() => (isClosed() ? [] : claims.claimDoubts(claim)), claim.limit),
    renewLeases: (tokens, leaseMs) =>
      commits.run(() => tokens.map((token) => leases.renew(token, leaseMs)), tokens.length),
    endLeases: () => thenDue(() => leases.endOver()),
    markSubmitting: (marks) =>
      commits.run(
        () => (holds.reason() === null ? claims.markSubmitting(marks) : marks.map(() => false)),
        marks.length,
      ),
    markRepeating: (claimed, withinMs) =>
      commits.run(() => (isClosed() ? null : requests.markRepeating(claimed, withinMs))),
    postponeMessages: (messages) => thenDue(() => claims.postponeMessages(messages), messages.length),
    leaveInDoubt: (doubts) => thenDue(() => claims.leaveInDoubt(doubts), doubts.length),
    async finalizeMessages(finalizations, answer) {
      const finalized = await commits.run(
        () => finalization.finalizeMessages(finalizations, answer),
        finalizations.length,
      );
      finalized.forEach((one, index) => {
        if (one !== null) tellFinalized(one, finalizations[index]?.claimed.pendingKey ?? null);
      });
      return finalized;
    },
    async recordReceipts(received, answer) {
      const finalized = await commits.run(
        () => received.flatMap((receipt) => finalization.recordReceipt(receipt, claims.read, answer)),
        received.length,
      );
      for (const one of finalized) tellFinalized(one, one.pendingKey);
      return finalized;
    },
    hold: (reason) => commits.run(() => holds.begin(reason)),
    held: () => read(() => holds.reason()),
    countUnfinished: () => read(() => unfinished().count()),
    claimUnfinished: (claim) =>
      commits.run(() => (holds.reason() === null ? [] : unfinished().claim(claim)), claim.limit),
    async release() {
      const isEnded = await commits.run(() => {
        if (holds.reason() === null) return false;
        leases.endAll();
        holds.end();
        return true;
      });
      if (isEnded) changes.tell('due');
      return isEnded;
    },
    listPrunable: (query) => read(() => pruning().listPrunable(query)),
    listFinalTo: (to, olderMs) => read(() => pruning().listFinalTo(to, olderMs)),
    countMessagesTo: (to) => read(() => pruning().countMessagesTo(to)),
    pruneMessages: (messages, erased) =>
      commits.run(() => pruning().pruneMessages(messages, erased), messages.length),
    listPrunedAnswers: (after) => read(() => pruning().listPrunedAnswers(after)),
    replaceAnswers: (answers) => commits.run(() => pruning().replaceAnswers(answers), answers.length),
    pruneInbox: (which) => commits.run(() => pruning().pruneInbox(which), pruneRows),
    eraseSuppressed: (to) => commits.run(() => pruning().eraseSuppressed(to)),
    pruneLeftovers: (to) => commits.run(() => pruning().pruneLeftovers(to), pruneRows),
    beginPruneRun: (everyMs) => commits.run(() => pruning().beginPruneRun(everyMs)),
    endPruneRun: () => commits.run(() => pruning().endPruneRun()),
    lanePauses: () => read(() => lanes.pauses()),
    pauseLane: (name) => thenDue(() => lanes.pause(name)),
    resumeLane: (name) => thenDue(() => lanes.resume(name)),
    stopBatch: (id, error) => thenDue(() => lanes.stopBatch(id, error), 1_000),
    leaseBind: (claim) => commits.run(() => binds().lease(claim)),
    releaseBind: (claim) => commits.run(() => binds().release(claim)),
    nextWork: (names) => read(() => work.nextWork(names)),
    countUnjoined: () => read(() => receipts.countUnjoined()),
    queueDepth: () => read(() => depth()()),
    hasDue: () => read(() => work.hasDue()),
    findWaiting: (lane, projectIds) => read(() => work.findWaiting(lane, projectIds)),

    getMessage: (projectId, id) => read(() => reading.getMessage(projectId, id)),
    findMessage: (id) => read(() => reading.findMessage(id)),
    getBatch: (projectId, id) => read(() => reading.getBatch(projectId, id)),
    listBatchMessages: (projectId, batchId, page) =>
      read(() => reading.listBatchMessages(projectId, batchId, page)),
    listMessages: (projectId, filter, page) => read(() => lists().listMessages(projectId, filter, page)),
    listBatches: (projectId, filter, page) => read(() => lists().listBatches(projectId, filter, page)),
    getVerification: (projectId, id) => read(() => reading.getVerification(projectId, id)),
    findVerifications: (messageIds) => read(() => reading.findVerifications(messageIds)),
    checkVerification: (projectId, id, matches) =>
      commits.run(() => reading.checkVerification(projectId, id, matches)),

    countMessages: (projectId, since, stepMs) =>
      countInParts((before) => read(() => insights().countSome(projectId, since, stepMs, before))),
    countWaiting: (projectId) => read(() => insights().countWaiting(projectId)),
    countVerifications: (projectId, since) => read(() => insights().countVerifications(projectId, since)),
    verificationWait: (projectId, limit) => read(() => insights().verificationWait(projectId, limit)),
    getHistory: (projectId, messageId) => read(() => insights().getHistory(projectId, messageId)),

    addSignInLink: (link) => commits.run(() => signIns().addSignInLink(link)),
    openSession: (link, session) => commits.run(() => signIns().openSession(link, session)),
    findSession: (hash) => read(() => signIns().findSession(hash)),
    endSession: (hash) => commits.run(() => signIns().endSession(hash)),
    listSignIns: () => read(() => signIns().listSignIns()),
    endSignIns: (id) => commits.run(() => signIns().endSignIns(id)),
    recordDashboard: (url) => commits.run(() => signIns().recordDashboard(url)),
    dashboardUrl: () => read(() => signIns().dashboardUrl()),
    keepIncoming: (message) => commits.run(() => inbox().keep(message)),
    listInbox: (projectId, page) => read(() => inbox().list(projectId, page)),
    suppress: (projectId, to, reason) => commits.run(() => suppressions().add(projectId, to, reason)),
    getSuppression: (projectId, to) => read(() => suppressions().get(projectId, to)),
    listSuppressions: (projectId, page) => read(() => suppressions().list(projectId, page)),
    removeSuppression: (projectId, to) => commits.run(() => suppressions().remove(projectId, to)),
    async check() {
      await read(() => checkVersion(database, migrations));
      await commits.run(() => instances().probe());
    },
    instances: {
      beat: (heartbeat) => commits.run(() => instances().beat(heartbeat)),
      list: () => read(() => instances().list()),
      leave: (id) => commits.run(() => instances().leave(id)),
      leaveEnded: (ended) => commits.run(() => instances().leaveEnded(ended)),
      listEnded: () => read(() => instances().listEnded()),
      takeEnded: () => commits.run(() => instances().takeEnded()),
    },

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
