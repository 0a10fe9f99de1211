import type { CoreDoubles } from '../../../src/service/core.js';
import type { Store } from '../../../src/service/storage/store.js';

/** A store as it ships, and stores that are wrong in one point. */
export type StoreKind = 'shipped' | 'refunds_twice' | 'skips_the_ledger';

const wrongly: Record<StoreKind, (store: Store) => Store> = {
  shipped: (store) => store,
  refunds_twice: (store) => ({
    ...store,
    async finalizeMessages(finalizations, answer) {
      const finalized = await store.finalizeMessages(finalizations, answer);
      for (const [at, { claimed, outcome }] of finalizations.entries()) {
        const { projectId, credits } = claimed.message;
        if (outcome.status === 'failed' && finalized[at]) await store.credit(projectId, credits);
      }
      return finalized;
    },
  }),
  skips_the_ledger: (store) => ({
    ...store,
    listLedger: async (projectId) =>
      (await store.listLedger(projectId)).filter(({ reason }) => reason !== 'refund'),
  }),
};

/** What stands in front of the store of a service. */
export const storeDouble = (kind: StoreKind): NonNullable<CoreDoubles['store']> => wrongly[kind];
