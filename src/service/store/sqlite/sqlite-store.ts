import { GroupCommit } from '../../database/group-commit.js';
import { openDatabase } from '../../database/open.js';
import type { Store } from '../store.js';
import { prepareAcceptance } from './acceptance.js';
import { prepareDelivery } from './delivery.js';
import { prepareLeases } from './leases.js';
import { prepareProjects } from './projects.js';
import { prepareReading } from './reading.js';
import { prepareResets } from './resets.js';
import { migrations } from './schema.js';

/** Opens the store in an SQLite file, or in memory with `:memory:`. */
export async function openSqliteStore(path: string): Promise<Store> {
  const database = await openDatabase(path, { synchronous: 'full', migrations });
  const commits = new GroupCommit(database);
  const projects = prepareProjects(database);
  const leases = prepareLeases(database);
  const resets = prepareResets(database, projects);
  const acceptance = prepareAcceptance(database, projects, leases, resets);
  const delivery = prepareDelivery(database, projects, leases, acceptance);
  const reading = prepareReading(database, projects);

  return {
    createProject: (project) => commits.run(() => projects.createProject(project)),
    getProject: async (id) => projects.getProject(id),
    listProjects: async () => projects.listProjects(),
    changeSettings: (projectId, change) => commits.run(() => projects.changeSettings(projectId, change)),
    credit: (projectId, amount, at) => commits.run(() => projects.credit(projectId, amount, at)),
    listLedger: async (projectId) => projects.listLedger(projectId),
    beginReset: (owner, at, until) => commits.run(() => resets.begin(owner, at, until)),
    reset: (balance, at, until) => commits.run(() => resets.empty(balance, at, until)),
    endReset: (owner) => commits.run(() => resets.end(owner)),

    addKey: (key, maxActive) => commits.run(() => projects.addKey(key, maxActive)),
    listKeys: async (projectId) => projects.listKeys(projectId),
    revokeKey: (projectId, id, at) => commits.run(() => projects.revokeKey(projectId, id, at)),
    findKey: async (hash) => projects.findKey(hash),

    findAnswer: async (projectId, key) => acceptance.findAnswer(projectId, key),
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
