import { idAsWritten } from '../../contract/index.js';
import type { Administration, LaneSummary } from '../administration.js';
import { batchStopped } from '../dispatch/tries.js';
import type { Store } from '../storage/store.js';
import { type StatusParts, statusOf } from './status.js';

export interface LaneParts extends StatusParts {
  store: StatusParts['store'] & Pick<Store, 'pauseLane' | 'resumeLane' | 'stopBatch'>;
}

/** Pauses lanes and stops batches, on every instance at once. */
export function administerLanes(
  parts: LaneParts,
): Pick<Administration, 'listLanes' | 'setLaneStatus' | 'stopBatch'> {
  const { store } = parts;

  async function listLanes(): Promise<LaneSummary[]> {
    const { lanes } = await statusOf(parts);
    return lanes.map(({ lane, waiting, oldest_seconds, slow, paused_at, instances }) => ({
      lane,
      status: paused_at === null ? 'open' : 'paused',
      waiting,
      oldest_seconds,
      connected: instances.filter(({ state }) => state !== 'down').length,
      slow,
      paused_at,
    }));
  }

  const find = async (name: string) => (await listLanes()).find(({ lane }) => lane === name) ?? null;

  return {
    listLanes,
    async setLaneStatus(lane, status) {
      if ((await find(lane)) === null) return null;
      await (status === 'paused' ? store.pauseLane(lane) : store.resumeLane(lane));
      return find(lane);
    },
    async stopBatch(written) {
      const id = idAsWritten(written);
      const counts = await store.stopBatch(id, batchStopped);
      if (counts === null) return null;
      const { total, sent, failed, stopped, refunded } = counts;
      return { id, total, sent, failed, in_progress: total - sent - failed, stopped, refunded };
    },
  };
}
