import type { Fate, SubmitResult } from '../carriers/carrier.js';
import type { Outcome } from '../storage/store.js';

/** Null while it is open. */
export function outcomeOf(fate: Fate): Outcome | null {
  if (fate === 'taken') return { status: 'sent', carrierIds: [], delivery: null };
  return fate === 'undecidable' ? { status: 'sent', carrierIds: [], delivery: 'unknown' } : null;
}

const sentWithoutReceipts: Outcome = { status: 'sent', carrierIds: [], delivery: null };

export function sent({ carrierIds, delivery }: Extract<SubmitResult, { kind: 'accepted' }>): Outcome {
  if (carrierIds.length === 0 && delivery === undefined) return sentWithoutReceipts;
  return { status: 'sent', carrierIds, delivery: delivery ?? null };
}
