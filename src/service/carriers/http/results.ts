import { type Accepted, OutcomeUnknown, type Submission, type SubmitResult } from '../carrier.js';
import type { Exchanged } from './gateway-client.js';
import type { GatewayRoute } from './gateway-route.js';
import { type AnswerOutcome, outcomeOfAnswer } from './outcome-of-answer.js';

/**
 * Of a message with our id `reference`, and its recipient. Throws OutcomeUnknown unless the answer says that the message
 * was accepted, or that it was not.
 */
export function resultOf(
  route: GatewayRoute,
  { reference, to }: Pick<Submission, 'reference' | 'to'>,
  exchanged: Exchanged,
): SubmitResult {
  if (exchanged.kind === 'not_sent') {
    const { reason } = exchanged;
    return {
      kind: 'later',
      reason: `${route.name} cannot be reached: ${reason}`,
      code: reason,
      scope: 'lane',
    };
  }
  if (exchanged.kind === 'unanswered') {
    const { reason } = exchanged;
    throw new OutcomeUnknown(reason, { pausedBy: { reason, code: 'no answer' } });
  }
  const { answer } = exchanged;
  const outcome = outcomeOfAnswer(route, answer, to);
  if (outcome.kind === 'accepted') return accepted(route, reference, outcome);
  const said = { reason: `its gateway answered ${outcome.code}`, code: outcome.code };
  const wait = answer.retryAfterMs === null ? {} : { retryAfterMs: answer.retryAfterMs };
  switch (outcome.kind) {
    case 'account':
      return { kind: 'later', ...said, scope: 'account', ...wait };
    case 'throttled':
      return { kind: 'later', ...said, scope: 'rate', ...wait };
    case 'unknown_recipient':
      return { kind: 'refused', ...said, tryNextRoute: true, isUnknownRecipient: true };
    case 'refused':
      return { kind: 'refused', ...said, tryNextRoute: true };
    case 'unknown':
      throw new OutcomeUnknown(said.reason, { pausedBy: said });
  }
}

/** The outcome of a repeat. Anything but an acceptance is about the repeat alone. */
export function acceptedOf(route: GatewayRoute, reference: string, exchanged: Exchanged): Accepted | null {
  if (exchanged.kind !== 'answered') return null;
  const outcome = outcomeOfAnswer(route, exchanged.answer, '');
  return outcome.kind === 'accepted' ? accepted(route, reference, outcome) : null;
}

function accepted(
  { receipts }: GatewayRoute,
  reference: string,
  { carrierIds, isPartly }: Extract<AnswerOutcome, { kind: 'accepted' }>,
): Accepted {
  return {
    kind: 'accepted',
    // Receipts refer to the message by one or the other.
    carrierIds: receipts?.reference ? [reference] : carrierIds,
    ...(isPartly ? { delivery: 'undelivered' } : {}),
  };
}
