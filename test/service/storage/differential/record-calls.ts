import type { Store } from '../../../../src/service/storage/store.js';
import { start } from '../conformance/fixture.js';
import { type Calls, lanes, page, simple, sorted, whole } from './given.js';
import { byText, type Side } from './world.js';

/** Projects, money, keys, and reading what was sent. */
export const recordCalls = {
  createProject(world) {
    const given = { id: world.of(['p0', 'p1', 'p2', 'p3']), name: 'Shop', balance: world.of([0, 500]) };
    return simple((store) => store.createProject(given));
  },
  getProject(world) {
    const id = world.of(['p0', 'p1', 'nobody']);
    return simple((store) => store.getProject(id));
  },
  listProjects: () => simple((store) => store.listProjects()),
  changeSettings(world) {
    const [id, settings] = [world.project(), JSON.stringify({ a: world.below(9) })];
    return simple((store) => store.changeSettings(id, () => settings));
  },
  recordLanes(world) {
    const names = lanes.filter(() => world.chance(0.3));
    return simple((store) => store.recordLanes(names));
  },
  renameProject(world) {
    const [id, name] = [world.of(['p0', 'nobody']), world.of(['One', 'Two'])];
    return simple((store) => store.renameProject(id, name));
  },
  credit(world) {
    const amount = world.of([5_000, 100, 0, -50, -100_000]);
    const about = { id: `credit-${world.below(1_000)}`, note: world.of([null, 'refill']) };
    const id = world.project();
    return simple((store) => store.credit(id, amount, about));
  },
  listLedger(world) {
    const id = world.project();
    // The entries of messages that were finalized together have no order.
    return ({ store }) => sorted(store.listLedger(id));
  },
  listLedgerPage(world) {
    const [id, limit] = [world.project(), world.of([7, 100])];
    return async ({ store }) =>
      (await whole((before: number | null) => store.listLedgerPage(id, { limit, before })))
        .flatMap(({ records }) => records)
        .sort(byText);
  },
  addKey(world) {
    const id = world.new('key');
    const key = {
      id,
      projectId: world.project(),
      hash: new Uint8Array(Buffer.from(id)),
      prefix: world.of([null, 'urtuu_ab']),
      label: world.of([null, 'deploy']),
      createdBy: world.of([null, 'session']),
      scope: world.of([['send', 'read'] as const, ['read'] as const]),
      expiry: world.of([null, { afterMs: 60_000 }, { afterMs: 0 }, { at: 1 }]),
    };
    return simple((store) => store.addKey(key, 4));
  },
  addFirstKey(world) {
    const id = world.new('key');
    const hash = new Uint8Array(Buffer.from(id));
    const key = {
      id,
      projectId: 'p2',
      hash,
      prefix: null,
      label: null,
      scope: ['send'] as const,
      expiry: null,
    };
    return simple((store) => store.addFirstKey(key));
  },
  listKeys(world) {
    const id = world.project();
    return simple((store) => store.listKeys(id));
  },
  revokeKey(world) {
    const [id, key] = [world.project(), world.a('key')];
    return simple((store) => store.revokeKey(id, key));
  },
  recordKeyUse(world) {
    const key = world.a('key');
    return simple((store) => store.recordKeyUse(key));
  },
  getMessage(world) {
    const [id, message] = [world.project(), world.a('message')];
    return simple((store) => store.getMessage(id, message));
  },
  findMessage(world) {
    const message = world.a('message');
    return simple((store) => store.findMessage(message));
  },
  ownMessages(world) {
    const [id, ids] = [world.project(), world.some('message')];
    return ({ store }: Side) => sorted(store.ownMessages(id, ids));
  },
  getBatch(world) {
    const [id, batch] = [world.project(), world.a('batch')];
    return simple((store) => store.getBatch(id, batch));
  },
  listBatchMessages(world) {
    const [id, batch, given] = [world.project(), world.a('batch'), page(world, 'message')];
    return simple((store) => store.listBatchMessages(id, batch, given));
  },
  listMessages(world) {
    const [id, given] = [world.project(), page(world, 'message')];
    const query = {
      ...{ channel: null, status: null, since: null, until: null, to: null, delivery: null, batchId: null },
      ...(world.chance(0.3) ? { status: world.of(['queued', 'sent', 'failed'] as const) } : {}),
      ...(world.chance(0.2) ? { to: world.recipient() } : {}),
      ...(world.chance(0.2) ? { delivery: 'unknown' as const } : {}),
      ...(world.chance(0.2) ? { batchId: world.a('batch') } : {}),
      ...(world.chance(0.2) ? { channel: world.of(['sms', 'email'] as const) } : {}),
    };
    return simple((store) => store.listMessages(id, query, given));
  },
  listBatches(world) {
    const [id, given] = [world.project(), page(world, 'batch')];
    const status = world.of([null, 'completed', 'processing'] as const);
    const query = { channel: null, since: null, until: null, status };
    return simple((store) => store.listBatches(id, query, given));
  },
  getVerification(world) {
    const [id, verification] = [world.project(), world.a('verification')];
    return simple((store) => store.getVerification(id, verification));
  },
  findVerifications(world) {
    const ids = world.some('message');
    return ({ store }: Side) => sorted(store.findVerifications(ids));
  },
  checkVerification(world) {
    const [id, verification, code] = [world.project(), world.a('verification'), world.below(2)];
    return simple((store) => store.checkVerification(id, verification, (hash) => hash[0] === code));
  },

  countMessages(world) {
    const [id, step] = [world.project(), world.of([1_000, 3_600_000])];
    return async ({ store }: Side) => {
      const { counts, isWhole } = await store.countMessages(id, 0, step);
      return { counts: [...counts].sort(byText), isWhole };
    };
  },
  countWaiting(world) {
    const id = world.project();
    return simple((store) => store.countWaiting(id));
  },
  countVerifications(world) {
    const [id, since] = [world.project(), start + world.milliseconds()];
    return simple((store) => store.countVerifications(id, since));
  },
  verificationWait(world) {
    const id = world.project();
    const limit = {
      most: world.of([1, 3]),
      windowMs: world.of([15_000, 3_600_000]),
      numbers: world.of([null, ['99110002', '99110004'] as const]),
    };
    return simple((store) => store.verificationWait(id, limit));
  },
  getHistory(world) {
    const [id, message] = [world.project(), world.a('message')];
    return simple((store) => store.getHistory(id, message));
  },
  isKeyedBetween(world) {
    const [id, sent] = [world.project(), world.a(world.of(['message', 'batch']))];
    const last = world.of(['k1', 'k~']);
    return simple((store) => store.isKeyedBetween(id, sent, ['k', last]));
  },
} satisfies Partial<Calls<Store>>;
