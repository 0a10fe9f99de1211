import { type Message, normalizeRecipient } from '../../../contract/index.js';
import { isMoved, type Removal } from '../job/counts.js';
import { suppressedCode } from '../plan/reported-rows.js';
import type { Outcome } from './receipt-columns.js';
import type { StoredReceipt } from './receipt-store.js';

export interface Match {
  found: StoredReceipt[];
  /** Members without a message. */
  missing: number[];
  /** Messages to others. */
  strangers: number;
  /** The outcome of all missing members, if their messages were erased, and had the same. */
  shared: Outcome | null;
}

/** Finds the message of each member of a batch that was not removed. */
export function matchMessages(
  to: readonly string[],
  removed: ReadonlyMap<number, Removal>,
  messages: readonly Message[],
): Match {
  const indexes = new Map<string, number>();
  const moved = new Set<string>();
  for (const [index, recipient] of to.entries()) {
    if (!removed.has(index)) indexes.set(recipient, index);
    else if (isMoved(removed.get(index))) moved.add(recipient);
  }
  const found = new Map<number, StoredReceipt>();
  let strangers = 0;
  // A pruned message has lost its recipient, but need not belong to a stranger.
  for (const message of messages.filter((each) => each.to !== '')) {
    const recipient = normalizeRecipient(message.to);
    const index = indexes.get(recipient);
    if (index === undefined) strangers += Number(!moved.has(recipient));
    else found.set(index, storedReceipt(message, index));
  }
  const missing = [...indexes.values()].filter((index) => !found.has(index));
  const erased = messages.filter((each) => each.to === '').map((message) => storedReceipt(message, 0));
  const shared = erased.length >= missing.length ? sharedBy(erased) : null;
  return { found: [...found.values()], missing, strangers, shared };
}

/** Whose message each was is unknown, so these have an outcome only if all of them share it. */
function sharedBy(erased: readonly StoredReceipt[]): Outcome | null {
  const [one] = erased;
  const isShared = (field: keyof Outcome) => erased.every((each) => each[field] === one?.[field]);
  if (one === undefined || !isShared('status') || !isShared('code')) return null;
  const credits = isShared('credits') ? one.credits : null;
  return { ...one, id: '', credits, delivery: isShared('delivery') ? one.delivery : '' };
}

/** `delivery` is set if the service reports it; null means no report yet. */
export function storedReceipt(message: Message & { delivery?: unknown }, index: number): StoredReceipt {
  const { id, status, error, credits, delivery = '' } = message;
  const known = delivery === null || typeof delivery === 'string' ? delivery : '';
  return { index, id, status, code: error?.code ?? '', credits, delivery: known };
}

/** How many of them failed because their recipient is on the do-not-send list. */
export const suppressedIn = (receipts: readonly StoredReceipt[]): number =>
  receipts.filter(({ status, code }) => status === 'failed' && code === suppressedCode).length;
