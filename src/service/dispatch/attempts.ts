import type { Outcome } from '../storage/store.js';
import { type HandOver, notAccepted } from './submit.js';

/** Milliseconds after each attempt that was certainly not taken, or whose fate is unknown. */
const delays = [200, 500, 1_000, 2_000, 5_000, 5_000, 5_000, 5_000, 5_000, 10_000, 30_000, 60_000];
/** Attempts that were certainly not taken, after which a message fails. */
const maxAttempts = 10;

/** Milliseconds until the attempt after this one. */
export function delayAfter(attempts: number): number {
  return delays[attempts - 1] ?? delays.at(-1) ?? 0;
}

/** Null while the message has no end yet: never while it may have been taken, or no carrier was tried. */
export function outcomeOf(result: HandOver, attempts: number): Outcome | null {
  if (result.status === 'sent' || result.status === 'failed') return result;
  if (result.status !== 'again' || attempts < maxAttempts) return null;
  return { status: 'failed', error: notAccepted('it could not be reached') };
}
