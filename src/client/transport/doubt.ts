import type { CallKind } from './retry.js';

export interface FailedAttempt {
  code: string;
  /** Null when no answer arrived. */
  status: number | null;
  /** False only if certainly nothing of the request was sent. */
  requestSent: boolean;
}

/**
 * Whether a call may have sent something, after another failed attempt with the same idempotency key; `before` is the
 * state before it. An attempt without an answer puts the call in doubt. A temporary refusal (credits, rate, key, an
 * unknown code) says nothing about earlier attempts. A refusal of the content, and `provider_failed`, resolve the
 * doubt: the service looks up the key before it checks the content.
 */
export function inDoubtAfter(before: boolean, attempt: FailedAttempt, kind: CallKind): boolean {
  if (kind === 'read' || !attempt.requestSent) return before;
  if (endsDoubt(attempt)) return false;
  return before || isUnanswered(attempt);
}

function endsDoubt({ code, status }: FailedAttempt): boolean {
  if (code === 'unexpected_response') return false;
  return code === 'provider_failed' || status === 400 || status === 422;
}

/** No answer, an answer that is not the service's, or a 5xx. */
function isUnanswered({ code, status }: FailedAttempt): boolean {
  return code === 'unexpected_response' || status === null || !(status >= 400 && status < 500);
}
