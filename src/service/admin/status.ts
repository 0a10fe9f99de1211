import type { LaneStatus, ServiceStatus, SlowLane } from '../administration.js';
import type { Clock } from '../clock.js';
import { figuresOfLeft, sumOf } from '../heartbeat/last-minute.js';
import type { OperationContext, Project } from '../operations/context.js';
import { nightAt } from '../quiet/quiet-hours.js';
import type { Unjoined } from '../storage/insights.js';
import type { Instance, Instances } from '../storage/instances.js';
import type { Store } from '../storage/store.js';
import { timestamp } from '../timestamp.js';

export interface StatusParts {
  store: Pick<
    Store,
    'getProject' | 'held' | 'lanePauses' | 'listProjects' | 'queueDepth' | 'countUnjoined' | 'recordLanes'
  >;
  readProject: OperationContext['readProject'];
  /** Lanes of the simulated operator if it is used; always shown, like those of real carriers. */
  simulatedLanes: readonly string[];
  instances: Pick<Instances, 'list' | 'listEnded'>;
  clock: Clock;
}

/** The queue and the instances of a service, by lane. */
export async function statusOf({
  store,
  simulatedLanes,
  instances,
  readProject,
  clock,
}: StatusParts): Promise<ServiceStatus> {
  const known = [...simulatedLanes, ...(await store.recordLanes([]))];
  const held = await store.held();
  const depths = await store.queueDepth();
  const alive = await instances.list();
  const left = figuresOfLeft(await instances.listEnded());
  const ended = sumOf([...alive.flatMap(({ lastMinute }) => lastMinute), ...left]);
  const figures = new Map(ended.map((one) => [one.lane, one]));
  const depthOf = new Map(depths.map((depth) => [depth.lane, depth]));
  const connected = alive.flatMap(({ carriers }) => carriers.map(({ lane }) => lane));
  const unread = unreadIn(alive, await store.countUnjoined());
  const pauses = new Map((await store.lanePauses()).map((one) => [one.lane, one.pausedAt]));
  const names = [
    ...known,
    ...connected,
    ...depthOf.keys(),
    ...figures.keys(),
    ...unread.keys(),
    ...pauses.keys(),
  ];
  const lanes = [...new Set(names)].sort();
  const ago = (milliseconds: number) => timestamp(clock.now() - milliseconds);
  const slow = await slowIn(alive, store, ago);
  const projects = (await store.listProjects()).map(readProject);
  return {
    held,
    quiet: projects.flatMap((project) => quietNow(project, clock.now()) ?? []),
    lanes: lanes.map((lane): LaneStatus => {
      const { waiting = 0, oldestMs = null, claimed = 0, doubtful = 0 } = depthOf.get(lane) ?? {};
      const pausedAt = pauses.get(lane);
      const { sent = 0, unknown = 0, failed = 0, failures = {} } = figures.get(lane) ?? {};
      return {
        lane,
        waiting,
        oldest_seconds: oldestMs === null ? null : Math.floor(oldestMs / 1_000),
        submitting: claimed,
        in_doubt: doubtful,
        sent,
        unknown,
        failed,
        failures,
        unread: unread.get(lane) ?? {},
        slow: slow.filter((one) => one.lane === lane).map(({ lane: _, ...one }) => one),
        paused_at: pausedAt === undefined ? null : timestamp(pausedAt),
        instances: alive.flatMap((one) => connectionsOf(one, lane, ago)),
      };
    }),
  };
}

function quietNow({ id, name, settings }: Project, now: number): ServiceStatus['quiet'][number] | null {
  const night = nightAt(settings, now);
  if (night === null) return null;
  const { until, clock, zone } = night;
  return { project: id, project_name: name, until: timestamp(until), until_clock: clock, zone };
}

/** What changed nothing, by lane and reason. */
function unreadIn(
  alive: readonly Instance[],
  unjoined: readonly Unjoined[],
): Map<string, Record<string, number>> {
  const counted = alive.flatMap(({ carriers }) =>
    carriers.map(({ lane, unread = {} }) => ({ lane, unread })),
  );
  const all = [
    ...counted,
    ...unjoined.map(({ route, count }) => ({ lane: route, unread: { unjoined: count } })),
  ];
  const sums = new Map<string, Record<string, number>>();
  for (const { lane, unread } of all) {
    const sum = sums.get(lane) ?? {};
    for (const [reason, count] of Object.entries(unread)) sum[reason] = (sum[reason] ?? 0) + count;
    if (Object.keys(sum).length > 0) sums.set(lane, sum);
  }
  return sums;
}

/** What slows lanes down. The same problem on several instances appears once, since its start, with the last answer. */
async function slowIn(
  alive: readonly Instance[],
  store: Pick<Store, 'getProject'>,
  ago: (milliseconds: number) => string,
): Promise<(SlowLane & { lane: string })[]> {
  const all = alive.flatMap(({ carriers }) =>
    carriers.flatMap(({ lane, troubles = [] }) => troubles.map((one) => ({ lane, ...one }))),
  );
  const known = new Map<string, (typeof all)[0]>();
  for (const one of all) {
    const key = JSON.stringify([one.lane, one.project, one.state]);
    const other = known.get(key);
    const answered = other === undefined || other.code === '' ? one : other;
    known.set(key, { ...answered, forMs: Math.max(one.forMs, other?.forMs ?? 0) });
  }
  return Promise.all(
    [...known.values()].map(async ({ lane, project, state, forMs, code, words }) => {
      const name = project === null ? null : ((await store.getProject(project))?.name ?? null);
      return {
        lane,
        project,
        project_name: name,
        state,
        since: ago(forMs),
        seconds: Math.floor(forMs / 1_000),
        code,
        words,
      };
    }),
  );
}

function connectionsOf(
  { id, version, address, carriers, seenMs }: Instance,
  name: string,
  ago: (milliseconds: number) => string,
): LaneStatus['instances'] {
  return carriers
    .filter(({ lane }) => lane === name)
    .map(({ state, forMs }) => ({ id, version, address, state, since: ago(forMs), seen_at: ago(seenMs) }));
}
