import type { Ended } from '../storage/instances.js';
import type { MessageRecord, Store } from '../storage/store.js';

/** The same store. `count` is called, and awaited, with the messages that calls of this process have finished. */
export function countedStore(store: Store, count: (ended: readonly Ended[]) => Promise<void> | void): Store {
  return {
    ...store,
    async finalizeMessages(finalizations, answer) {
      const results = await store.finalizeMessages(finalizations, answer);
      const ended = new Tally();
      results.forEach((result, index) => {
        const lane = finalizations[index]?.claimed.lane;
        if (result !== null && lane !== undefined) ended.add(lane, result.message);
      });
      await count(ended.list);
      return results;
    },
    async recordReceipts(receipts, answer) {
      const results = await store.recordReceipts(receipts, answer);
      const ended = new Tally();
      for (const { lane, message } of results) ended.add(lane, message);
      if (results.length > 0) await count(ended.list);
      return results;
    },
    async stopBatch(id, error) {
      const batch = await store.stopBatch(id, error);
      if (batch === null) return null;
      const { channel, lanes } = batch;
      const each = { channel, status: 'failed', isUnknown: false, code: error.code } as const;
      if (lanes.length > 0) await count(lanes.map((one) => ({ ...each, ...one })));
      return batch;
    },
  };
}

/** Counts messages with the same outcome. */
class Tally {
  readonly list: Ended[] = [];

  add(lane: string, { channel, status, delivery, error }: MessageRecord): void {
    const isUnknown = delivery === 'unknown';
    const code = error?.code ?? null;
    const alike = this.list.find(
      (one) =>
        one.lane === lane &&
        one.channel === channel &&
        one.status === status &&
        one.isUnknown === isUnknown &&
        one.code === code,
    );
    if (alike !== undefined) alike.count += 1;
    else if (status !== 'queued') this.list.push({ lane, channel, status, isUnknown, code, count: 1 });
  }
}
