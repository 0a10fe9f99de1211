import type { ClaimedMessage, Outcome } from './dispatching.js';

/**
 * The delivery of a message in doubt that a receipt ends, apart from its receipts. Of several parts, other segments may
 * not have been taken: it stays open for their receipts.
 */
export function deliveryInDoubt({ message }: ClaimedMessage): 'unknown' | null {
  return (message.parts ?? 1) > 1 ? 'unknown' : null;
}

/** The outcome of a message in doubt whose receipts came before it was; null where none did. */
export function outcomeOfReceipts(claimed: ClaimedMessage): Outcome | null {
  const { receipts: carrierIds } = claimed;
  if (carrierIds.length === 0) return null;
  return { status: 'sent', carrierIds, delivery: deliveryInDoubt(claimed) };
}
