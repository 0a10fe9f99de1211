import { normalizeRecipient } from '../../../contract/index.js';
import type { Answer } from './answer.js';
import type { RequestBody } from './request-body.js';

/** A request before its answer. */
export interface RequestFacts {
  kind: 'single' | 'batch';
  /** As sent. */
  body: Pick<RequestBody, 'to'>;
  /** Copies under this key, of this run and earlier ones, without an answer. */
  unanswered: number;
  /** Successive `invalid_request` answers that named nothing in the body. */
  foreignRefusals: number;
  shortage: Shortage | null;
}

/** The last `insufficient_credits` of this revision, and how often it came back the same. */
interface Shortage {
  balance: number;
  repeats: number;
}

/** Whom an answer is about, and whom its request was for: apart from the text, for a screen may mask them. */
export interface MixUp {
  to: string;
  wanted: string;
}

interface Acceptance {
  id: string;
  credits: number;
  replayOf: string | null;
  acceptedAt: number | null;
}

export type Step =
  | ({ kind: 'accept' } & Acceptance)
  /** The key's earlier result, of another body: its messages tell which recipients were sent to. */
  | ({ kind: 'compare'; total: number } & Acceptance)
  /** Not the answer to this request. `stops`: no other answer of the service can be believed either. */
  | { kind: 'alarm'; reason: string; mixUp?: MixUp; stops: boolean }
  | { kind: 'reject'; code: string }
  | { kind: 'fail'; code: string; id: string | null }
  /** Take these positions of the body out, and send the next revision. */
  | { kind: 'remove'; positions: number[] }
  /** Send the same body as the next revision: the refusal is bound to the key. */
  | { kind: 'revise'; code: 'invalid_request' | 'insufficient_credits' }
  /** After a backoff, send the same bytes with the same key: the outcome is unknown. */
  | { kind: 'retry-in-doubt'; code: string; redirect?: string }
  /** The same: the request did not leave. */
  | { kind: 'retry-unsent'; code: string; detail: string }
  /** The same: it was refused, and the reason seems to be gone. */
  | { kind: 'retry-refused'; code: 'insufficient_credits' }
  /** Not sent; the same key after the wait. `seconds` is null where the service did not say. */
  | { kind: 'wait-for-project'; seconds: number | null }
  | { kind: 'wait-for-recipient'; seconds: number | null }
  /** Not sent, and every other request would be refused too. */
  | { kind: 'stop'; code: string; status: number };

export type StepOf<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>;

/** Refusals of the project or the service, not of the message. */
const stopping = new Set([
  'unauthorized',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'unsupported_media_type',
]);
const stoppingStatus = new Set([401, 402, 403, 404, 405, 415]);
/** So many refusals of entries that are not in the body mean that the keys are used up. */
const mostForeignRefusals = 25;

/**
 * The only transitions of a request (bulk sending, states of a request). The answer alone decides, never the number
 * of tries: doubt leads to the same key, and only a certain refusal leads to the next revision. A refusal of the
 * bytes answers every copy of them, one bound to the key every copy under it, and one of the moment only its own.
 */
export function nextStep(request: RequestFacts, answer: Answer): Step {
  switch (answer.kind) {
    case 'doubt': {
      const { kind: _, ...doubt } = answer;
      return { kind: 'retry-in-doubt', ...doubt };
    }
    case 'unsent':
      return { kind: 'retry-unsent', code: answer.code, detail: answer.detail };
    case 'batch':
    case 'message':
      return afterAcceptance(request, answer);
    case 'refusal':
      return afterRefusal(request, answer);
  }
}

function afterAcceptance(
  request: RequestFacts,
  answer: Extract<Answer, { kind: 'batch' | 'message' }>,
): Step {
  const { id, credits, replayOf, acceptedAt } = answer;
  if (credits === null) return { kind: 'alarm', reason: `${answer.kind} ${id} has no price`, stops: true };
  if (answer.kind === 'message') {
    const [to = ''] = request.body.to;
    const isOurs = isPruned(answer) || normalizeRecipient(answer.to) === normalizeRecipient(to);
    if (isOurs && answer.failed) return { kind: 'fail', code: 'provider_failed', id };
    return isOurs
      ? { kind: 'accept', id, credits, replayOf, acceptedAt }
      : {
          kind: 'alarm',
          reason: `message ${id} is for another recipient`,
          mixUp: { to: answer.to, wanted: to },
          stops: false,
        };
  }
  return answer.total === request.body.to.length
    ? { kind: 'accept', id, credits, replayOf, acceptedAt }
    : { kind: 'compare', total: answer.total, id, credits, replayOf, acceptedAt };
}

/** A repeated answer may be old enough to have lost its recipient; its key is still that of this request. */
function isPruned({ to, replayOf }: Extract<Answer, { kind: 'message' }>): boolean {
  return to === '' && replayOf !== null;
}

function afterRefusal(request: RequestFacts, answer: Extract<Answer, { kind: 'refusal' }>): Step {
  const { code, status, retryAfter = null } = answer;
  if (code === 'provider_failed') return { kind: 'fail', code, id: answer.id ?? null };
  if (code === 'insufficient_credits') return afterShortage(request, answer);
  if (code === 'recipient_rate_limited' && request.kind === 'single') {
    return { kind: 'wait-for-recipient', seconds: retryAfter };
  }
  if (status === 429) return { kind: 'wait-for-project', seconds: retryAfter };
  if (stopping.has(code) || stoppingStatus.has(status)) return { kind: 'stop', code, status };
  if (code === 'invalid_request' && answer.invalid?.length) {
    if (request.kind === 'batch') return afterInvalid(request, answer.invalid);
    // Not about these bytes, so it answers no other copy of them.
    if (request.unanswered > 0 && !positionsOf(request, answer.invalid).length)
      return { kind: 'retry-in-doubt', code };
  }
  if (status === 400 || status === 422 || request.unanswered === 0) return { kind: 'reject', code };
  return { kind: 'retry-in-doubt', code };
}

function afterInvalid(request: RequestFacts, invalid: readonly string[]): Step {
  const positions = positionsOf(request, invalid);
  if (positions.length > 0) return { kind: 'remove', positions };
  if (request.unanswered > 0) return { kind: 'retry-in-doubt', code: 'invalid_request' };
  return request.foreignRefusals < mostForeignRefusals
    ? { kind: 'revise', code: 'invalid_request' }
    : { kind: 'reject', code: 'invalid_request' };
}

/** Where the body has the recipients that the service named. */
function positionsOf(request: RequestFacts, invalid: readonly string[]): number[] {
  const named = new Set(invalid.map(normalizeRecipient));
  return request.body.to.flatMap((to, position) => (named.has(normalizeRecipient(to)) ? [position] : []));
}

/**
 * Credits may have been topped up since: then the same key is tried again. A refusal that keeps naming an old
 * balance although there is enough now is bound to the key, or the balance is wrong: an unanswered copy may still be
 * accepted, so then the key stays.
 */
function afterShortage(request: RequestFacts, answer: Extract<Answer, { kind: 'refusal' }>): Step {
  const { balance = null, required = null, actual = null } = answer;
  const { shortage, unanswered } = request;
  const enough = actual !== null && required !== null && actual >= required;
  if (!enough) return { kind: 'stop', code: answer.code, status: answer.status };
  const isOutdated = balance !== actual && shortage !== null && shortage.balance === balance;
  const isBound = isOutdated && shortage.repeats >= 1;
  return isBound && unanswered === 0
    ? { kind: 'revise', code: 'insufficient_credits' }
    : { kind: 'retry-refused', code: 'insufficient_credits' };
}

/** Counts how often `insufficient_credits` came back with the same balance. */
export function shortageAfter(before: Shortage | null, balance: number | null | undefined): Shortage | null {
  if (balance === null || balance === undefined) return null;
  return before?.balance === balance ? { balance, repeats: before.repeats + 1 } : { balance, repeats: 0 };
}
