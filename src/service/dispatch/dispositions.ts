import type { SubmitResult } from '../carriers/carrier.js';
import type { ClaimedMessage, Outcome } from '../storage/store.js';
import type { Disposition } from './finalizer.js';
import { delayAfterLater, delayAfterLoss, isWaitedFor, notAccepted } from './tries.js';

interface Elapsed {
  /** Milliseconds since the claim. */
  elapsed(): number;
}

const sentWithoutReceipts: Outcome = { status: 'sent', carrierIds: [], delivery: null };

export function sent({ carrierIds, delivery }: Extract<SubmitResult, { kind: 'accepted' }>): Outcome {
  if (carrierIds.length === 0 && delivery === undefined) return sentWithoutReceipts;
  return { status: 'sent', carrierIds, delivery: delivery ?? null };
}

export function failed(claimed: ClaimedMessage, reason: string): Disposition {
  return { kind: 'final', claimed, outcome: { status: 'failed', error: notAccepted(reason) } };
}

/** Back to its lane, or to that of its next route, at once. */
export function again(claimed: ClaimedMessage, to: { lane?: string }): Disposition {
  return { kind: 'again', claimed, delayMs: 0, isTry: false, ...to };
}

/** Certainly not taken, and not because the carrier put it off. */
export function lost(claimed: ClaimedMessage, tools: Elapsed): Disposition {
  const left = claimed.boundMs - tools.elapsed();
  const delayMs = isWaitedFor(claimed) && left <= 0 ? null : delayAfterLoss(claimed.tries);
  if (delayMs === null) return failed(claimed, 'it could not be reached');
  return { kind: 'again', claimed, delayMs, isTry: true };
}

export function later(
  claimed: ClaimedMessage,
  { scope, retryAfterMs }: Extract<SubmitResult, { kind: 'later' }>,
  tools: Elapsed,
): Disposition {
  // The lane pauses, not the message.
  if (scope === 'lane') return again(claimed, {});
  const left = claimed.boundMs - tools.elapsed();
  return {
    kind: 'again',
    claimed,
    delayMs: Math.min(delayAfterLater(claimed.tries, retryAfterMs), left),
    isTry: true,
  };
}
