import type { CoreDoubles } from '../../../src/service/core.js';
import type { Store } from '../../../src/service/storage/store.js';

/** A store as it ships, and stores that are wrong in one point. */
export type StoreKind = 'shipped' | 'refunds_twice' | 'skips_the_ledger';

const wrongly: Record<StoreKind, (store: Store) => Store> = {
  shipped: (store) => store,
  refunds_twice: (store) => ({
    ...store,
    async settleMessages(settlements, answer) {
      const settled = await store.settleMessages(settlements, answer);
      for (const [at, { claimed, outcome }] of settlements.entries()) {
        const { projectId, credits } = claimed.message;
        if (outcome.status === 'failed' && settled[at]) await store.credit(projectId, credits, 0);
      }
      return settled;
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
