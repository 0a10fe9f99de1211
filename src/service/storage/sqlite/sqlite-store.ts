import type { Store } from '../store.js';
import { prepareAcceptance } from './acceptance.js';
import { prepareClockCorrections } from './clock-corrections.js';
import { whenFree } from './database/busy.js';
import { GroupCommit, type GroupCommitOptions } from './database/group-commit.js';
import { type Database, openDatabase } from './database/open.js';
import { prepareDelivery } from './dispatch.js';
import { prepareLeases } from './leases.js';
import { prepareProjects } from './projects.js';
import { prepareReading } from './reading.js';
import { prepareResets } from './resets.js';
import { migrations } from './schema.js';

/** Opens the store in an SQLite file, or in memory with `:memory:`. */
export async function openSqliteStore(path: string): Promise<Store> {
  return sqliteStore(await openStoreDatabase(path));
}

export function openStoreDatabase(path: string, check?: (database: Database) => void): Promise<Database> {
  const keepsCopy = path !== ':memory:';
  return openDatabase(path, {
    synchronous: 'full',
    migrations,
    keepsCopy,
    ...(check === undefined ? {} : { check }),
  });
}

export interface SqliteStoreOptions extends GroupCommitOptions {
  /** Throws where nothing may be read any more. */
  check?: () => void;
  /** Called when nothing is written any more. */
  beforeClose?: () => Promise<void>;
}

export function sqliteStore(database: Database, options: SqliteStoreOptions = {}): Store {
  const { check = () => {}, beforeClose = async () => {} } = options;
  const commits = new GroupCommit(database, options);
  const read = <Result>(work: () => Result): Promise<Result> =>
    whenFree(() => {
      check();
      return work();
    });
  const corrections = prepareClockCorrections(database);
  const projects = prepareProjects(database);
  const leases = prepareLeases(database);
  const resets = prepareResets(database, projects);
  const acceptance = prepareAcceptance(database, projects, leases, corrections, resets);
  const delivery = prepareDelivery(database, projects, leases, acceptance);
  const reading = prepareReading(database, projects, corrections);

  return {
    createProject: (project) => commits.run(() => projects.createProject(project)),
    getProject: (id) => read(() => projects.getProject(id)),
    listProjects: () => read(() => projects.listProjects()),
    changeSettings: (projectId, change) => commits.run(() => projects.changeSettings(projectId, change)),
    credit: (projectId, amount, at) => commits.run(() => projects.credit(projectId, amount, at)),
    listLedger: (projectId) => read(() => projects.listLedger(projectId)),
    beginReset: (owner, at, until) => commits.run(() => resets.begin(owner, at, until)),
    reset: (balance, at, until) => commits.run(() => resets.empty(balance, at, until)),
    endReset: (owner) => commits.run(() => resets.end(owner)),

    addKey: (key, maxActive) => commits.run(() => projects.addKey(key, maxActive)),
    listKeys: (projectId) => read(() => projects.listKeys(projectId)),
    revokeKey: (projectId, id, at) => commits.run(() => projects.revokeKey(projectId, id, at)),
    findKey: (hash) => read(() => projects.findKey(hash)),

    findAnswer: (projectId, key) => read(() => acceptance.findAnswer(projectId, key)),
    acceptMessage: (message) => commits.run(() => acceptance.acceptMessage(message)),
    acceptBatch: (batch) => commits.run(() => acceptance.acceptBatch(batch), batch.recipients.length),
    acceptVerification: (verification) => commits.run(() => acceptance.acceptVerification(verification)),

    claimMessages: (claim) =>
      commits.run(() => (resets.isUnderWay(claim.now) ? [] : delivery.claimMessages(claim)), claim.limit),
    renewLeases: (messages, until) =>
      commits.run(() => delivery.renewLeases(messages, until), messages.length),
    postponeMessages: (messages) => commits.run(() => delivery.postponeMessages(messages), messages.length),
    settleMessages: (settlements, answer) =>
      commits.run(() => delivery.settleMessages(settlements, answer), settlements.length),
    nextDue: (now) => read(() => delivery.nextDue(now)),
    hasDue: (now) => read(() => delivery.hasDue(now)),

    getMessage: (projectId, id) => read(() => reading.getMessage(projectId, id)),
    getBatch: (projectId, id) => read(() => reading.getBatch(projectId, id)),
    listBatchMessages: (projectId, batchId, page) =>
      read(() => reading.listBatchMessages(projectId, batchId, page)),
    getVerification: (projectId, id) => read(() => reading.getVerification(projectId, id)),
    checkVerification: (projectId, id, at, matches) =>
      commits.run(() => reading.checkVerification(projectId, id, at, matches)),

    async close() {
      await commits.close();
      await beforeClose();
      database.close();
    },
  };
}
