import type { MessageError, SuppressionReason } from '../../contract/index.js';
import type { ClaimedMessage, TriedKind } from '../storage/store.js';
import { answerLine } from '../storage/tried.js';

const second = 1_000;
const minute = 60 * second;
/** After each attempt that a carrier deferred, except for the rate. */
const laterDelays = [5 * second, 30 * second, 2 * minute, 5 * minute, 10 * minute, 20 * minute, 30 * minute];
const hourly = 60 * minute;
/** After each throttled attempt; doubled each time. */
const firstThrottled = second;
const longestThrottled = minute;
/** After each attempt that was lost on the way or failed in the service. */
const lostDelays = [200, 500, second, 2 * second, 5 * second, 5 * second, 5 * second, 5 * second, 5 * second];
const maxLost = lostDelays.length + 1;

/** How long a carrier may defer a message after its acceptance: for a single SMS, a caller is waiting. */
export const boundMs = { waited: 15 * second, queued: 24 * 60 * minute };

/** As many as a carrier that defers a message gets in a day. */
const triesOfDay = 30;

type Tries = Pick<ClaimedMessage, 'tries' | 'tried'>;

/** Each kind has a separate schedule: a message that was throttled all day has not been lost ten times. */
function triesOf({ tries, tried }: Tries, ...kinds: readonly TriedKind[]): number {
  const sum = (runs: Tries['tried']) => runs.reduce((all, { times }) => all + times, 0);
  const known = sum(tried.filter(({ kind }) => kinds.includes(kind)));
  // An older release counted them without the kind.
  const unknown = tries - sum(tried.filter(({ kind }) => kind !== 'refused'));
  return kinds.includes('message') ? known + Math.max(0, unknown) : known;
}

/** Milliseconds until the next attempt of a message that its carrier deferred. */
export function delayAfterLater(claimed: Tries, retryAfterMs = 0): number {
  return Math.max(laterDelays[triesOf(claimed, 'message', 'account')] ?? hourly, retryAfterMs);
}

/** Milliseconds until the next attempt of a throttled message. */
export function delayAfterThrottle(claimed: Tries, retryAfterMs = 0): number {
  const delay = Math.min(firstThrottled * 2 ** triesOf(claimed, 'rate'), longestThrottled);
  return Math.max(delay, retryAfterMs);
}

/**
 * Milliseconds until the next attempt of a message that was certainly not accepted, for whatever reason; null if
 * there is none.
 */
export function delayAfterLoss(claimed: Tries): number | null {
  const tries = triesOf(claimed, 'lost');
  return tries + 1 < maxLost ? (lostDelays[tries] ?? null) : null;
}

/**
 * Milliseconds for which a carrier may still defer a message. Waiting for a carrier's limit of a day does not count:
 * `heldUpAgo`, since that last held messages up. But it is not tried more often than in a day without such a limit.
 */
export function boundInLane(
  claimed: Tries & Pick<ClaimedMessage, 'boundMs'>,
  heldUpAgo: number | null,
): number {
  if (heldUpAgo === null || triesOf(claimed, 'message', 'account') >= triesOfDay) return claimed.boundMs;
  return Math.max(claimed.boundMs, boundMs.queued - heldUpAgo);
}

/** Whether a caller or a code waits for it: after its bound it fails. */
export function isWaitedFor({ message, lifeMs }: Pick<ClaimedMessage, 'message' | 'lifeMs'>): boolean {
  return lifeMs !== null || (message.channel === 'sms' && message.batchId === null);
}

/**
 * Milliseconds until the next attempt to resolve a doubt, by how long it has lasted and whether its request is
 * repeated.
 */
export function delayInDoubt(elapsedMs: number, isRepeated: boolean): number {
  return Math.min(Math.max(elapsedMs, isRepeated ? second : 200), minute);
}

/** For a message whose batch was stopped before it was submitted. */
export const batchStopped: MessageError = {
  code: 'provider_failed',
  message: 'The batch was stopped before the message was sent',
};

/** `recipient_suppressed`, whether it is refused or fails later. */
export function suppressed(reason: SuppressionReason): MessageError {
  return {
    code: 'recipient_suppressed',
    message: `The recipient is suppressed: ${suppressedBecause[reason]}`,
  };
}

const suppressedBecause = {
  opt_out: 'it asked for no more messages',
  unknown_recipient: 'it does not exist',
  manual: 'it was added by hand',
} as const satisfies Record<SuppressionReason, string>;

export function notAccepted(reason: string): MessageError {
  return { code: 'provider_failed', message: `The operator did not accept the message: ${reason}` };
}

export function throttled(reason: string): MessageError {
  return { code: 'provider_failed', message: `The operator throttled the message: ${reason}` };
}

/** No carrier was tried, or no further one: reports the last answer. */
export function notSubmitted({ tried }: Pick<ClaimedMessage, 'tried'>, reason: string): MessageError {
  const last = tried.at(-1);
  if (last === undefined)
    return { code: 'provider_failed', message: `The message was not submitted: ${reason}` };
  const answer = last.kind === 'lost' ? 'it was lost' : `${last.route} answered ${answerLine(last)}`;
  return (last.kind === 'rate' ? throttled : notAccepted)(`${answer}; then ${reason}`);
}
