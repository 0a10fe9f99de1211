import type { MessageError } from '../../contract/index.js';
import type { Deferral, SubmitResult } from '../carriers/carrier.js';
import type { ClaimedMessage, Outcome, Postponement, Tried } from '../storage/store.js';
import type { Disposition } from './finalizer.js';
import { delayAfterLater, delayAfterLoss, delayAfterThrottle, isWaitedFor, notAccepted } from './tries.js';

interface Elapsed {
  /** Milliseconds since the claim. */
  elapsed(): number;
}

const sentWithoutReceipts: Outcome = { status: 'sent', carrierIds: [], delivery: null };

export function sent({ carrierIds, delivery }: Extract<SubmitResult, { kind: 'accepted' }>): Outcome {
  if (carrierIds.length === 0 && delivery === undefined) return sentWithoutReceipts;
  return { status: 'sent', carrierIds, delivery: delivery ?? null };
}

/** `answer`: to its last attempt, if there was one. */
export function failed(claimed: ClaimedMessage, error: MessageError, answer?: Tried): Disposition {
  return { kind: 'final', claimed, outcome: { status: 'failed', error }, ...(answer && { answer }) };
}

/** Returns it to its lane, or to the lane of its next route, at once by default. `answer`: as in `failed`. */
export function again(
  claimed: ClaimedMessage,
  to: Partial<Pick<Postponement, 'lane' | 'delayMs'>>,
  answer?: Tried,
): Disposition {
  const isTry = answer !== undefined && answer.kind !== 'refused';
  return { kind: 'again', claimed, delayMs: 0, isTry, ...to, ...(answer && { answer }) };
}

/** Certainly not accepted, although the carrier did not defer it. */
export function lost(claimed: ClaimedMessage, tools: Elapsed): Disposition {
  const left = claimed.boundMs - tools.elapsed();
  const delayMs = isWaitedFor(claimed) && left <= 0 ? null : delayAfterLoss(claimed);
  const answer: Tried = { kind: 'lost', route: claimed.mark?.route ?? '', code: '', words: '' };
  if (delayMs === null) return failed(claimed, notAccepted('it could not be reached'), answer);
  return { kind: 'again', claimed, delayMs, isTry: true, answer };
}

/** An attempt that the carrier deferred; retried in `left` milliseconds at the latest. */
export function later(
  claimed: ClaimedMessage,
  scope: Exclude<Deferral['scope'], 'lane'>,
  { retryAfterMs }: Deferral,
  answer: Tried,
  left: number,
): Disposition {
  const delayAfter = scope === 'rate' ? delayAfterThrottle : delayAfterLater;
  const delayMs = Math.min(delayAfter(claimed, retryAfterMs), left);
  return { kind: 'again', claimed, delayMs, isTry: true, answer };
}
