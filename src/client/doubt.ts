import type { CallKind } from './retry.js';

/** How one attempt failed. */
export interface FailedAttempt {
  code: string;
  /** Null when no answer arrived. */
  status: number | null;
  /** False when it is known that nothing of the request left. */
  requestSent: boolean;
}

/**
 * Whether a call may have created something, after one more attempt with the same idempotency key failed; `before`
 * is what was in doubt until then. An attempt without an answer puts the call in doubt. A refusal of the moment (no
 * credits, rate, key, a code that nobody knows) settles only its own attempt; a refusal of the content, and
 * `provider_failed`, settle all: the service looks at the key before it looks at the content.
 */
export function inDoubtAfter(before: boolean, attempt: FailedAttempt, kind: CallKind): boolean {
  if (kind === 'read' || !attempt.requestSent) return before;
  if (settlesAll(attempt)) return false;
  return before || isUnanswered(attempt);
}

function settlesAll({ code, status }: FailedAttempt): boolean {
  if (code === 'unexpected_response') return false;
  return code === 'provider_failed' || status === 400 || status === 422;
}

/** No answer, none of the service, or one that says that it does not know. */
function isUnanswered({ code, status }: FailedAttempt): boolean {
  return code === 'unexpected_response' || status === null || !(status >= 400 && status < 500);
}
