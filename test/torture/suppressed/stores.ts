import type { SuppressionReason } from '../../../src/contract/index.js';
import type { Store } from '../../../src/service/storage/store.js';
import { obeysOptOuts } from '../../../src/service/storage/suppressions.js';
import { ticks } from '../../support/cores.js';

/** A store as it ships, and one that looks into its list before a transaction. */
export type StoreKind = 'shipped' | 'asks_before_the_transaction';

export const storeOf = (kind: StoreKind, store: Store): Store =>
  kind === 'shipped' ? store : askingBefore(store);

/** Its list is beside the store, which has none. */
function askingBefore(store: Store): Store {
  const list = new Map<string, SuppressionReason>();
  const asked = async (to: string, obeys: boolean) => {
    const reason = list.get(to);
    await ticks(3);
    return reason === undefined || (reason === 'opt_out' && !obeys) ? null : reason;
  };
  const add = (all: readonly string[], reason: SuppressionReason) => {
    for (const to of all) list.set(to, list.get(to) ?? reason);
  };
  return {
    ...store,
    suppress: async (_, to, reason) => add([to], reason),
    suppressAll: async (_, all, reason) => {
      add(all, reason);
      return all.length;
    },
    removeSuppression: async (_, to) => list.delete(to),
    async acceptMessage(given) {
      const obeys = obeysOptOuts({ channel: given.channel, batchId: null }, given.content);
      const reason = await asked(given.recipient.to, obeys);
      return reason === null ? store.acceptMessage(given) : { kind: 'suppressed', reason };
    },
    async acceptVerification(given) {
      const reason = await asked(given.recipient.to, false);
      return reason === null ? store.acceptVerification(given) : { kind: 'suppressed', reason };
    },
    acceptBatch: (given) => store.acceptBatch({ ...given, claim: null }),
    async markSubmitting(marks) {
      const reasons = await Promise.all(
        marks.map(({ claimed: { message, content } }) => asked(message.to, obeysOptOuts(message, content))),
      );
      const marked = await store.markSubmitting(marks.filter((_, index) => reasons[index] === null));
      return reasons.map((reason) => reason ?? marked.shift() ?? false);
    },
  };
}
