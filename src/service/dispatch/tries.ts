import type { MessageError } from '../../contract/index.js';
import type { ClaimedMessage } from '../storage/store.js';

const second = 1_000;
const minute = 60 * second;
/** After each try that a carrier put off. */
const laterDelays = [5 * second, 30 * second, 2 * minute, 5 * minute, 10 * minute, 20 * minute, 30 * minute];
const hourly = 60 * minute;
/** After each try that was lost on the way, or failed in the service. */
const lostDelays = [200, 500, second, 2 * second, 5 * second, 5 * second, 5 * second, 5 * second, 5 * second];
const maxLost = lostDelays.length + 1;

/** How long a carrier may say "later", from acceptance: its caller waits for a single SMS. */
export const boundMs = { waited: 15 * second, queued: 24 * 60 * minute };

/** Milliseconds until the next try of a message that its carrier put off. */
export function delayAfterLater(tries: number, retryAfterMs = 0): number {
  return Math.max(laterDelays[tries] ?? hourly, retryAfterMs);
}

/** The same after one that was certainly not taken, for whatever reason; null when there is none. */
export function delayAfterLoss(tries: number): number | null {
  return tries + 1 < maxLost ? (lostDelays[tries] ?? null) : null;
}

/** Whether a caller or a code waits for it: over its bound it fails and takes no other route. */
export function isWaitedFor({ message, lifeMs }: ClaimedMessage): boolean {
  return lifeMs !== null || (message.channel === 'sms' && message.batchId === null);
}

/** Milliseconds until a doubt is looked into again, for so long as it has lasted. */
export function delayInDoubt(elapsedMs: number): number {
  return Math.min(Math.max(elapsedMs, 200), minute);
}

/** Of a message whose batch was stopped before it was submitted. */
export const batchStopped: MessageError = {
  code: 'provider_failed',
  message: 'The batch was stopped before the message was sent',
};

export function notAccepted(reason: string): MessageError {
  return { code: 'provider_failed', message: `The operator did not accept the message: ${reason}` };
}
