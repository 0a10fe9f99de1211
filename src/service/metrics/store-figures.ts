import type { LaneDepth, Unjoined } from '../storage/insights.js';
import { quotedLabel, writeSeries } from './families.js';

export interface LookedAtStore {
  queueDepth(): Promise<LaneDepth[]>;
  countUnjoined(): Promise<Unjoined[]>;
}

/** Milliseconds between two counts of the queue, however often somebody reads. */
const lookEvery = 5_000;

/** What the store counts, in the text format of Prometheus. */
export class StoreFigures {
  #lookedAt = Number.NEGATIVE_INFINITY;
  #depths: Promise<LaneDepth[]> = Promise.resolve([]);
  #unjoined: Promise<Unjoined[]> = Promise.resolve([]);

  async write(store: LookedAtStore): Promise<string> {
    const now = performance.now();
    if (now - this.#lookedAt >= lookEvery) {
      this.#lookedAt = now;
      this.#depths = store.queueDepth().catch(() => []);
      this.#unjoined = store.countUnjoined().catch(() => []);
    }
    const depths = await this.#depths;
    const unjoined = await this.#unjoined;
    const byLane = (of: (depth: LaneDepth) => number | null) =>
      depths.flatMap((depth) => {
        const value = of(depth);
        return value === null ? [] : [[`lane="${quotedLabel(depth.lane)}"`, value] as const];
      });
    return [
      writeSeries(
        'urtuu_queue_messages',
        'gauge',
        'Waiting messages by lane.',
        byLane(({ waiting }) => waiting),
      ),
      writeSeries(
        'urtuu_queue_oldest_seconds',
        'gauge',
        'Seconds since the first waiting message was due, by lane.',
        byLane(({ oldestMs }) => oldestMs && oldestMs / 1_000),
      ),
      writeSeries(
        'urtuu_receipts_unjoined',
        'gauge',
        'Receipts of the last 24 hours that match no message, by route.',
        unjoined.map(({ route, count }) => [`route="${quotedLabel(route)}"`, count]),
      ),
    ].join('');
  }
}
