import { prunable, sorted } from './given.js';
import { comparable, type Side, type World } from './world.js';

/** What can be read of a store. */
export async function everything(world: World, side: Side): Promise<unknown> {
  const list = { limit: 1_000, after: null };
  const all = { channel: null, status: null, since: null, until: null };
  const { store, instances } = side;
  const ofProjects = [];
  for (const { id } of await store.listProjects())
    ofProjects.push(
      await store.getProject(id),
      await sorted(store.listLedger(id)),
      await store.listKeys(id),
      await store.listMessages(id, { ...all, to: null, delivery: null, batchId: null }, list),
      await store.listBatches(id, all, list),
      await store.listInbox(id, { channel: null, since: null, until: null }, list),
      await store.listSuppressions(id, list),
      await store.countWaiting(id),
      await store.countVerifications(id, 0),
    );
  const histories = [];
  for (const message of world.known('message')) {
    const found = await store.findMessage(message);
    histories.push(found && (await store.getHistory(found.projectId, message)));
  }
  return comparable({
    ofProjects,
    histories,
    verifications: await Promise.all(
      world.known('verification').map((id) => store.getVerification('p0', id)),
    ),
    depth: await sorted(store.queueDepth()),
    unfinished: await store.countUnfinished(),
    prunable: await prunable(side, 0),
    instances: await instances.list(),
    ended: await instances.listEnded(),
    held: await store.held(),
    pauses: await store.lanePauses(),
    signIns: await sorted(store.listSignIns()),
    url: await store.dashboardUrl(),
  });
}
