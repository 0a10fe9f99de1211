import { comparedRecipient } from '../../../../src/contract/index.js';
import type {
  AcceptResult,
  BatchResult,
  ClaimedMessage,
  Outcome,
  Store,
  Tried,
} from '../../../../src/service/storage/store.js';
import { answerOf, doubtMs, leaseMs } from '../conformance/fixture.js';
import {
  type Calls,
  common,
  content,
  delays,
  lanes,
  messageOf,
  recipient,
  routes,
  simple,
  sorted,
} from './given.js';
import { byText, claimedOf, type Play, type Side, type World } from './world.js';

/** Remembers what a side has claimed. */
function keep(side: Side, claimed: readonly ClaimedMessage[]): ClaimedMessage[] {
  for (const one of claimed) side.claimed.set(one.message.id, one);
  return [...claimed].sort(byText);
}

const accepted =
  (world: World, call: (side: Side) => Promise<AcceptResult | BatchResult>): Play =>
  async (side) => {
    const result = await call(side);
    if (result.kind !== 'accepted') return result;
    keep(side, result.claimed);
    for (const { message } of result.claimed) world.remember('claimed', message.id);
    return { ...result, claimed: [...result.claimed].sort(byText) };
  };

const claims =
  (world: World, call: (store: Store) => Promise<ClaimedMessage[]>): Play =>
  async (side) => {
    const claimed = keep(side, await call(side.store));
    for (const { message } of claimed) world.remember('claimed', message.id);
    return claimed;
  };

/** The begin of an id: some are the same in the form of SMPP. */
const spellings = ['c', 'C', '00c', 'd'];

const tried = (world: World): Tried => ({
  kind: world.of(['refused', 'account', 'rate', 'message', 'lost']),
  route: world.of(routes),
  code: world.of(['', '450']),
  words: world.of(['', 'Try later']),
});

const outcome = (world: World): Outcome =>
  world.chance(0.3)
    ? { status: 'failed', error: { code: 'provider_failed', message: `no to ${world.recipient()}` } }
    : {
        status: 'sent',
        carrierIds: world.chance(0.5) ? [`${world.of(spellings)}${world.below(50)}`] : [],
        delivery: world.of([null, 'unknown', 'delivered']),
      };

const perMessage = <Given>(world: World, given: (id: string) => Given) => {
  const ids = world.some('claimed');
  const by = new Map(ids.map((id) => [id, given(id)]));
  return (side: Side) =>
    claimedOf(side, ids).map((claimed) => ({ claimed, ...(by.get(claimed.message.id) as Given) }));
};

/** Accepting and dispatching messages, holding the store, and resetting it. */
export const sendCalls = {
  acceptMessage(world) {
    const given = messageOf(world);
    return accepted(world, ({ store }) => store.acceptMessage(given));
  },
  acceptBatch(world) {
    const shared = common(world);
    const to = Array.from({ length: 1 + world.below(8) }, () => world.recipient(shared.channel));
    // A batch has nobody twice.
    const different = new Map(to.map((each) => [comparedRecipient(each), each]));
    const recipients = [...different.values()].map((each) => recipient(world, each));
    const given = { ...shared, batchId: world.new('batch'), recipients };
    const answer = (_: unknown, balance: number) => ({ status: 202, body: JSON.stringify({ balance }) });
    return accepted(world, ({ store }) => store.acceptBatch({ ...given, answer }));
  },
  acceptVerification(world) {
    const verification = {
      id: world.new('verification'),
      codeHash: new Uint8Array([world.below(2)]),
      attempts: world.of([1, 3]),
      lifeMs: world.of([1_000, 600_000]),
    };
    const secret = { ...content(world), text: null, encrypted: new Uint8Array([1, 2, 3]) };
    const given = { ...messageOf(world), content: secret, idempotencyKey: null, verification };
    return accepted(world, ({ store }) => store.acceptVerification(given));
  },
  findAnswer(world) {
    const [id, key] = [world.project(), `k${world.below(40)}`];
    return simple((store) => store.findAnswer(id, key));
  },

  claimMessages(world) {
    const claim = {
      token: world.new('token'),
      leaseMs,
      limit: 1_000,
      lane: world.of(lanes),
      class: world.of(['single', 'batch'] as const),
      onlyOverdue: world.chance(0.2),
    };
    return claims(world, (store) => store.claimMessages(claim));
  },
  claimDoubts(world) {
    const claim = { token: world.new('token'), leaseMs, limit: 1_000, lane: world.of(lanes) };
    return claims(world, (store) => store.claimDoubts(claim));
  },
  renewLeases(world) {
    const tokens = world.some('token');
    return simple((store) => store.renewLeases(tokens, leaseMs));
  },
  endLeases: () => simple((store) => store.endLeases()),
  markSubmitting(world) {
    const marks = perMessage(world, () => ({
      route: world.of(routes),
      doubtMs,
      request: world.chance(0.5) ? new Uint8Array([7]) : null,
    }));
    return async (side) => {
      const given = marks(side).map((one) => ({ ...one, attempt: one.claimed.attempts + 1 }));
      const marked = await side.store.markSubmitting(given);
      given.forEach(({ claimed, attempt, route }, index) => {
        if (marked[index] === true) keep(side, [{ ...claimed, attempts: attempt, mark: { attempt, route } }]);
      });
      return marked;
    };
  },
  markRepeating(world) {
    const [id, withinMs] = [world.a('claimed'), world.of([1_000, 600_000])];
    return async (side) => {
      const claimed = side.claimed.get(id);
      if (claimed === undefined) return undefined;
      const marked = await side.store.markRepeating(claimed, withinMs);
      if (marked !== null) keep(side, [marked.claimed]);
      return marked;
    };
  },
  postponeMessages(world) {
    const given = perMessage(world, () => ({
      delayMs: world.of(delays),
      isTry: world.chance(0.5),
      answer: tried(world),
      ...(world.chance(0.2) ? { lane: world.of(lanes) } : {}),
    }));
    // Only an attempt is answered.
    return (side) =>
      side.store.postponeMessages(
        given(side).map(({ answer, ...one }) => (one.claimed.mark === null ? one : { ...one, answer })),
      );
  },
  leaveInDoubt(world) {
    const given = perMessage(world, () => ({ delayMs: world.of(delays) }));
    return (side) => side.store.leaveInDoubt(given(side).filter(({ claimed }) => claimed.mark !== null));
  },
  finalizeMessages(world) {
    const given = perMessage(world, () => ({
      outcome: outcome(world),
      ...(world.chance(0.3) ? { answer: tried(world) } : {}),
    }));
    return (side) => side.store.finalizeMessages(given(side), answerOf);
  },
  recordReceipts(world) {
    const receipts = [
      {
        route: world.of(routes),
        carrierId: `${world.of(spellings)}${world.below(50)}`,
        ...(world.chance(0.3) ? { otherId: `d${world.below(50)}` } : {}),
        to: world.recipient(),
        state: world.of(['delivered', 'bounced', 'unknown'] as const),
        reference: world.chance(0.3) ? world.a('message').slice(-6) : '',
        submittedAt: null,
      },
    ];
    return ({ store }) => sorted(store.recordReceipts(receipts, answerOf));
  },
  normalizeReceiptIds: () => async (side) => {
    await side.store.recordLanes(routes);
    return side.store.normalizeReceiptIds(routes);
  },
  countUnjoined: () => simple((store) => store.countUnjoined()),
  nextWork(world) {
    const names = lanes.filter(() => world.chance(0.7));
    return async ({ store }) => {
      const { paused, ...waits } = await store.nextWork(names);
      const atOnce = (wait: number | null) => wait && Math.max(0, wait);
      return [...Object.entries(waits).map(([of, wait]) => [of, atOnce(wait)]), [...paused].sort()];
    };
  },
  hasDue: () => simple((store) => store.hasDue()),
  findWaiting(world) {
    const [lane, id] = [world.of(lanes), world.project()];
    return ({ store }) => sorted(store.findWaiting(lane, [...new Set([id, 'p0', 'nobody'])]));
  },
  queueDepth:
    () =>
    ({ store }) =>
      sorted(store.queueDepth()),

  hold: () => simple((store) => store.hold('restored')),
  held: () => simple((store) => store.held()),
  countUnfinished: () => simple((store) => store.countUnfinished()),
  claimUnfinished(world) {
    const claim = { token: world.new('token'), leaseMs, limit: 1_000 };
    return claims(world, (store) => store.claimUnfinished(claim));
  },
  release: () => simple((store) => store.release()),
  // Always ended: as long as one runs, a lease of SQLite is its own.
  beginReset(world) {
    const given = messageOf(world);
    return async ({ store }) => {
      const begun = [await store.beginReset('me', 1_000), await store.beginReset('you', 1_000)];
      const refused = await store.acceptMessage(given);
      await store.endReset('me');
      return [begun, refused];
    };
  },
  reset: () => async (side) => {
    const isMine = await side.store.beginReset('me', 1_000);
    side.claimed.clear();
    const marked = await sorted(side.store.reset(2_000, 1_000));
    await side.store.endReset('me');
    return [isMine, marked];
  },
  endReset: () => simple((store) => store.endReset('you')),
} satisfies Partial<Calls<Store>>;
