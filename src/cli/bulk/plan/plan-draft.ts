import type { PriceOf } from './cost.js';
import type { Duplicates } from './duplicates.js';
import type { RowStore } from './files/row-store.js';
import type { Layout } from './layout.js';
import type { MessageStore } from './message-store.js';
import type { RecipientStore } from './recipient-store.js';

/** A plan in memory, before it is written. */
export interface PlanDraft {
  rows: RowStore;
  duplicates: Duplicates;
  messages: MessageStore;
  recipients: RecipientStore;
  layout: Layout;
  priceOf: PriceOf;
}
