import type { ClaimedMessage } from './dispatching.js';

/**
 * The delivery of a message in doubt that a receipt ends, apart from its receipts. Of several parts, other segments may
 * not have been taken: it stays open for their receipts.
 */
export function deliveryInDoubt({ message }: ClaimedMessage): 'unknown' | null {
  return (message.parts ?? 1) > 1 ? 'unknown' : null;
}
