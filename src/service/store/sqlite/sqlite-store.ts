import { GroupCommit } from '../../database/group-commit.js';
import { openDatabase } from '../../database/open.js';
import type { Instant, Store } from '../store.js';
import { prepareAcceptance } from './acceptance.js';
import { prepareDelivery } from './delivery.js';
import { prepareLeases } from './leases.js';
import { prepareProjects } from './projects.js';
import { prepareReading } from './reading.js';
import { migrations } from './schema.js';

/** Opens the store in an SQLite file, or in memory with `:memory:`. */
export async function openSqliteStore(path: string): Promise<Store> {
  const database = await openDatabase(path, { synchronous: 'full', migrations });
  const commits = new GroupCommit(database);
  const projects = prepareProjects(database);
  const leases = prepareLeases(database);
  const acceptance = prepareAcceptance(database, projects, leases);
  const delivery = prepareDelivery(database, projects, leases, acceptance);
  const reading = prepareReading(database, projects);

  function reset(balance: number, at: Instant): void {
    for (const table of [
      'verifications',
      'idempotency',
      'leases',
      'messages',
      'batches',
      'contents',
      'ledger',
    ]) {
      database.exec(`DELETE FROM ${table}`);
    }
    for (const { id } of projects.listProjects()) {
      const project = projects.numberOf(id);
      database.exec(`UPDATE projects SET balance = 0 WHERE seq = ${project}`);
      projects.move(project, balance, 'opening', null, at);
    }
  }

  return {
    createProject: (project) => commits.run(() => projects.createProject(project)),
    getProject: async (id) => projects.getProject(id),
    listProjects: async () => projects.listProjects(),
    changeSettings: (projectId, change) => commits.run(() => projects.changeSettings(projectId, change)),
    credit: (projectId, amount, at) => commits.run(() => projects.credit(projectId, amount, at)),
    listLedger: async (projectId) => projects.listLedger(projectId),
    reset: (balance, at) => commits.run(() => reset(balance, at)),

    addKey: (key, maxActive) => commits.run(() => projects.addKey(key, maxActive)),
    listKeys: async (projectId) => projects.listKeys(projectId),
    revokeKey: (projectId, id, at) => commits.run(() => projects.revokeKey(projectId, id, at)),
    findKey: async (hash) => projects.findKey(hash),

    findAnswer: async (projectId, key) => acceptance.findAnswer(projectId, key),
    acceptMessage: (message) => commits.run(() => acceptance.acceptMessage(message)),
    acceptBatch: (batch) => commits.run(() => acceptance.acceptBatch(batch), batch.recipients.length),
    acceptVerification: (verification) => commits.run(() => acceptance.acceptVerification(verification)),

    claimMessages: (claim) => commits.run(() => delivery.claimMessages(claim), claim.limit),
    renewLeases: (messages, until) =>
      commits.run(() => delivery.renewLeases(messages, until), messages.length),
    postponeMessages: (messages) => commits.run(() => delivery.postponeMessages(messages), messages.length),
    settleMessages: (settlements, answer) =>
      commits.run(() => delivery.settleMessages(settlements, answer), settlements.length),
    nextDue: async () => delivery.nextDue(),
    hasDue: async (now) => delivery.hasDue(now),

    getMessage: async (projectId, id) => reading.getMessage(projectId, id),
    getBatch: async (projectId, id) => reading.getBatch(projectId, id),
    listBatchMessages: async (projectId, batchId, page) =>
      reading.listBatchMessages(projectId, batchId, page),
    getVerification: async (projectId, id) => reading.getVerification(projectId, id),
    checkVerification: (projectId, id, at, matches) =>
      commits.run(() => reading.checkVerification(projectId, id, at, matches)),

    async close() {
      commits.close();
      database.close();
    },
  };
}
