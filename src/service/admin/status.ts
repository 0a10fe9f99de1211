import type { LaneStatus, ServiceStatus } from '../administration.js';
import type { Clock } from '../clock.js';
import { figuresOfLeft, sumOf } from '../heartbeat/last-minute.js';
import type { Instance, Instances } from '../storage/instances.js';
import type { Store } from '../storage/store.js';
import { timestamp } from '../timestamp.js';

export interface StatusParts {
  store: Pick<Store, 'held' | 'queueDepth' | 'recordLanes'>;
  /** Of the simulated operator, where it takes messages; shown in any case, as those of real carriers are. */
  simulatedLanes: readonly string[];
  instances: Pick<Instances, 'list' | 'listEnded'>;
  clock: Clock;
}

/** The queue and the instances of a service, by lane. */
export async function statusOf({
  store,
  simulatedLanes,
  instances,
  clock,
}: StatusParts): Promise<ServiceStatus> {
  const known = [...simulatedLanes, ...(await store.recordLanes([]))];
  const [held, depths, alive] = [await store.held(), await store.queueDepth(), await instances.list()];
  const left = figuresOfLeft(await instances.listEnded());
  const ended = sumOf([...alive.flatMap(({ lastMinute }) => lastMinute), ...left]);
  const figures = new Map(ended.map((one) => [one.lane, one]));
  const depthOf = new Map(depths.map((depth) => [depth.lane, depth]));
  const connected = alive.flatMap(({ carriers }) => carriers.map(({ lane }) => lane));
  const lanes = [...new Set([...known, ...connected, ...depthOf.keys(), ...figures.keys()])].sort();
  const ago = (milliseconds: number) => timestamp(clock.now() - milliseconds);
  return {
    held,
    lanes: lanes.map((lane): LaneStatus => {
      const { waiting = 0, oldestMs = null, claimed = 0, doubtful = 0 } = depthOf.get(lane) ?? {};
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
        instances: alive.flatMap((one) => connectionsOf(one, lane, ago)),
      };
    }),
  };
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
