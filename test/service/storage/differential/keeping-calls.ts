import { createHash } from 'node:crypto';
import { eventTypes, suppressionReasons } from '../../../../src/contract/index.js';
import type { Instances } from '../../../../src/service/storage/instances.js';
import type { Store } from '../../../../src/service/storage/store.js';
import { leaseMs } from '../conformance/fixture.js';
import { type Calls, lanes, page, prunable, routes, simple, sorted, whole } from './given.js';
import { byText, projects, type Side, type World } from './world.js';

const hashOf = (token: string) => createHash('sha256').update(token).digest();

const someone = (world: World) => Array.from({ length: world.below(4) }, () => world.recipient());

/** The inbox, suppressions, pruning, lanes, binds and sign-ins. */
export const keepingCalls = {
  keepIncoming(world) {
    const total = world.of([2, 3]);
    const given = {
      id: world.new('incoming'),
      projectId: world.project(),
      channel: 'sms' as const,
      from: world.recipient(),
      to: '139911',
      subject: world.of([null, 'Re: x']),
      text: `text ${world.below(3)}`,
      fingerprint: world.chance(0.3) ? `f${world.below(20)}` : null,
      part: world.chance(0.5)
        ? { reference: `r${world.below(3)}`, number: 1 + world.below(total), total }
        : null,
    };
    return simple((store) => store.keepIncoming(given));
  },
  listInbox(world) {
    const [id, given] = [world.project(), page(world, 'incoming')];
    const query = { channel: world.of([null, null, 'sms', 'email'] as const), since: null, until: null };
    return simple((store) => store.listInbox(id, query, given));
  },
  getIncoming(world) {
    const [id, incoming] = [world.project(), world.a('incoming')];
    return simple((store) => store.getIncoming(id, incoming));
  },
  listSendersTo(world) {
    const [to, route] = [world.recipient(), world.of(routes)];
    return simple((store) => store.listSendersTo(to, route));
  },
  suppress(world) {
    const [id, to, reason] = [world.project(), world.recipient(), world.of(suppressionReasons)];
    return simple((store) => store.suppress(id, to, reason));
  },
  suppressAll(world) {
    const [id, all, reason] = [world.project(), someone(world), world.of(suppressionReasons)];
    return simple((store) => store.suppressAll(id, all, reason));
  },
  findSuppressions(world) {
    const [id, all] = [world.project(), someone(world)];
    return simple((store) => store.findSuppressions(id, all));
  },
  listSuppressions(world) {
    const [id, limit, to] = [world.project(), world.of([1, 50]), world.recipient()];
    const after = world.chance(0.5) ? to : null;
    return simple((store) => store.listSuppressions(id, { limit, after }));
  },
  removeSuppression(world) {
    const [id, to] = [world.project(), world.recipient()];
    const only = world.of([undefined, ...suppressionReasons]);
    return simple((store) => store.removeSuppression(id, to, only));
  },

  beginEvents(world) {
    const [id, line] = [world.project(), world.below(1_000_000)];
    return simple((store) => store.beginEvents(id, line));
  },
  takeEvents(world) {
    const [id, limit, behind] = [world.project(), world.of([1, 5, 1_000]), world.below(20)];
    const types = world.of([null, [], eventTypes.slice(0, 2)]);
    return async ({ store }: Side) => {
      const taken = await store.takeEvents(id, null, { limit, types });
      if (taken === null || taken === 'expired') return taken;
      const { line, number } = taken.next;
      return [
        taken,
        await store.takeEvents(id, { line, number: Math.max(0, number - behind) }, { limit, types }),
      ];
    };
  },
  eventLines: () => simple((store) => sorted(store.eventLines(projects))),
  pruneEvents: () => async (side) => {
    // Of several lines any may be the first.
    let events = 0;
    for (let some = 1; some > 0; events += some) some = await side.store.pruneEvents();
    return events;
  },

  listPrunable(world) {
    const olderMs = world.milliseconds();
    return (side: Side) => prunable(side, olderMs);
  },
  listFinalTo(world) {
    const [to, olderMs] = [world.recipient(), world.of([null, 1_000])];
    return ({ store }: Side) => sorted(store.listFinalTo(to, olderMs));
  },
  countMessagesTo(world) {
    const to = world.recipient();
    return simple((store) => store.countMessagesTo(to));
  },
  pruneMessages(world) {
    const to = world.chance(0.7) ? world.recipient() : null;
    return async (side: Side) => {
      const found = to === null ? await prunable(side, 3_600_000) : await side.store.listFinalTo(to, null);
      await side.store.pruneMessages(found as Parameters<Store['pruneMessages']>[0], to);
    };
  },
  listPrunedAnswers:
    () =>
    async ({ store }: Side) =>
      (await whole((after: { project: number; key: string } | null) => store.listPrunedAnswers(after)))
        .flatMap(({ answers }) => answers)
        .map(({ key, body }) => ({ key, body }))
        .sort(byText),
  replaceAnswers:
    () =>
    async ({ store }: Side) => {
      const { answers } = await store.listPrunedAnswers(null);
      await store.replaceAnswers(answers.map((one) => ({ ...one, body: '{"pruned":true}' })));
    },
  pruneInbox(world) {
    const olderMs = world.of([null, 300_000]);
    const which = world.of([{ projectId: world.project() }, { from: world.recipient() }]);
    return simple((store) => store.pruneInbox({ olderMs, ...which }));
  },
  eraseSuppressed(world) {
    const to = world.recipient();
    return simple((store) => store.eraseSuppressed(to));
  },
  pruneLeftovers(world) {
    const to = world.of([null, world.recipient()]);
    return simple((store) => store.pruneLeftovers(to));
  },
  beginPruneRun: () => simple((store) => store.beginPruneRun(3_600_000)),
  endPruneRun: () => simple((store) => store.endPruneRun()),

  lanePauses: () => simple((store) => store.lanePauses()),
  pauseLane(world) {
    const lane = world.of(lanes);
    return simple((store) => store.pauseLane(lane));
  },
  resumeLane(world) {
    const lane = world.of(lanes);
    return simple((store) => store.resumeLane(lane));
  },
  stopBatch(world) {
    const batch = world.a('batch');
    return async ({ store }: Side) => {
      const stopped = await store.stopBatch(batch, { code: 'stopped', message: 'Stopped' });
      return stopped && { ...stopped, lanes: [...stopped.lanes].sort(byText) };
    };
  },
  leaseBind(world) {
    const claim = {
      route: world.of(routes),
      binds: world.of([1, 2]),
      holder: `h${world.below(5)}`,
      leaseMs,
    };
    return simple((store) => store.leaseBind(claim));
  },
  releaseBind(world) {
    const claim = { route: world.of(routes), holder: `h${world.below(5)}` };
    return simple((store) => store.releaseBind(claim));
  },
  takeOfDay(world) {
    const route = world.of(routes);
    const given = { route, most: 5, wanted: world.of([-1, 0, 1, 3]) };
    return simple((store) => store.takeOfDay(given));
  },

  addSignInLink(world) {
    const link = {
      hash: hashOf(world.new('link')),
      projectId: world.project(),
      lifeMs: world.milliseconds(),
    };
    return simple((store) => store.addSignInLink(link));
  },
  openSession(world) {
    const [link, hash, lifeMs] = [world.a('link'), world.new('session'), world.milliseconds()];
    return simple((store) => store.openSession(hashOf(link), { hash: hashOf(hash), lifeMs }));
  },
  findSession(world) {
    const hash = hashOf(world.a(world.of(['session', 'link'])));
    return simple((store) => store.findSession(hash));
  },
  endSession(world) {
    const hash = hashOf(world.a(world.of(['session', 'link'])));
    return simple((store) => store.endSession(hash));
  },
  listSignIns: () => (side) => sorted(side.store.listSignIns()),
  endSignIns(world) {
    const id = world.chance(0.1)
      ? null
      : hashOf(world.a(world.of(['session', 'link'])))
          .toString('hex')
          .slice(0, 12);
    return simple((store) => store.endSignIns(id));
  },
  recordDashboard(world) {
    const url = `http://localhost:${world.below(9)}`;
    const publicUrl = world.of([null, 'https://a.mn', 'https://b.mn']);
    return simple((store) => store.recordDashboard(url, publicUrl));
  },
  publicUrl: () => simple((store) => store.publicUrl()),
  dashboardUrl: () => simple((store) => store.dashboardUrl()),
} satisfies Partial<Calls<Store>>;

export const instanceCalls: Calls<Instances> = {
  beat(world) {
    const heartbeat = {
      id: `i${world.below(4)}`,
      version: '1',
      address: world.of([null, 'http://x']),
      carriers: [{ lane: 'sms', state: 'bound' as const, forMs: world.below(9) }],
      lastMinute: [],
    };
    return ({ instances }) => instances.beat(heartbeat);
  },
  list:
    () =>
    ({ instances }) =>
      instances.list(),
  leave(world) {
    const id = `i${world.below(4)}`;
    return ({ instances }) => instances.leave(id);
  },
  leaveEnded(world) {
    const ended = { lane: 'sms', channel: 'sms', status: 'sent', isUnknown: false, code: null } as const;
    const count = world.below(9);
    return ({ instances }) => instances.leaveEnded([{ ...ended, count }]);
  },
  listEnded:
    () =>
    ({ instances }) =>
      instances.listEnded(),
  takeEnded:
    () =>
    ({ instances }) =>
      sorted(instances.takeEnded()),
};
