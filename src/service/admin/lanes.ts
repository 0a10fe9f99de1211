import { batchStopped } from '../dispatch/tries.js';
import type { Administration, LaneSummary } from '../service.js';
import type { Instances } from '../storage/instances.js';
import type { LaneControl } from '../storage/lanes.js';
import { timestamp } from '../timestamp.js';

export interface LaneParts {
  store: LaneControl;
  instances: Pick<Instances, 'list'>;
  /** Of the simulated operator, where it takes messages. */
  simulatedLanes: readonly string[];
}

/** Pausing lanes and stopping batches, on every instance at once. */
export function administerLanes({
  store,
  instances,
  simulatedLanes,
}: LaneParts): Pick<Administration, 'listLanes' | 'setLaneStatus' | 'stopBatch'> {
  async function listLanes(): Promise<LaneSummary[]> {
    const [records, running] = await Promise.all([store.listLanes(), instances.list()]);
    const connections = running.flatMap(({ carriers }) => carriers);
    const known = new Map(records.map((record) => [record.name, record]));
    const names = [...known.keys(), ...simulatedLanes, ...connections.map(({ lane }) => lane)];
    return [...new Set(names)].sort().map((lane) => {
      const { pausedAt = null, waiting = 0, oldestAt = null } = known.get(lane) ?? {};
      return {
        lane,
        status: pausedAt === null ? 'open' : 'paused',
        waiting,
        oldest_at: oldestAt === null ? null : timestamp(oldestAt),
        connected: connections.filter((one) => one.lane === lane && one.state !== 'down').length,
        paused_at: pausedAt === null ? null : timestamp(pausedAt),
      };
    });
  }

  return {
    listLanes,
    async setLaneStatus(lane, status) {
      if (!(await listLanes()).some((one) => one.lane === lane)) return null;
      await (status === 'paused' ? store.pauseLane(lane) : store.resumeLane(lane));
      return (await listLanes()).find((one) => one.lane === lane) ?? null;
    },
    async stopBatch(id) {
      const counts = await store.stopBatch(id, batchStopped);
      if (counts === null) return null;
      const { total, sent, failed, stopped, refunded } = counts;
      return { id, total, sent, failed, in_progress: total - sent - failed, stopped, refunded };
    },
  };
}
