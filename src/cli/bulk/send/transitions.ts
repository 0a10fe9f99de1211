import { normalizeRecipient } from '../../../contract/index.js';
import type { Answer } from './answer.js';
import type { RequestBody } from './request-body.js';

/** A request before its answer. */
export interface SentRequest {
  kind: 'single' | 'batch';
  /** As sent. */
  body: Pick<RequestBody, 'to'>;
  /** Copies under this key without an answer, from this run and earlier ones. */
  unanswered: number;
  /** Successive `invalid_request` answers that named nothing in the body. */
  foreignRefusals: number;
  shortage: Shortage | null;
}

/** The last `insufficient_credits` of this revision, and how many times it was repeated with the same balance. */
interface Shortage {
  balance: number;
  repeats: number;
}

/** The recipient in an answer, and the request's; separate from the text, because screens may mask them. */
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
  /** The key's earlier result, for another body: its messages show which recipients were sent to. */
  | ({ kind: 'compare'; total: number } & Acceptance)
  /** The answer belongs to another request. `stops`: no other answer of the service can be trusted either. */
  | { kind: 'alarm'; reason: string; mixUp?: MixUp; stops: boolean }
  | { kind: 'reject'; code: string }
  | { kind: 'fail'; code: string; id: string | null }
  /** Remove these positions of the body, and send the next revision. */
  | { kind: 'remove'; positions: number[] }
  /** Send the same body as the next revision, because the refusal is bound to the key. */
  | { kind: 'revise'; code: 'invalid_request' | 'insufficient_credits' }
  /** Send the same bytes with the same key after a backoff: the outcome is unknown. */
  | { kind: 'retry-in-doubt'; code: string; redirect?: string }
  /** As above: the request did not leave. */
  | { kind: 'retry-unsent'; code: string; detail: string }
  /** As above: it was refused, but the reason seems to be gone. */
  | { kind: 'retry-refused'; code: 'insufficient_credits' }
  /** Not sent; send with the same key after the wait. `seconds`: null if the service did not say. */
  | { kind: 'wait-for-project'; seconds: number | null }
  | { kind: 'wait-for-recipient'; seconds: number | null }
  /** Not sent, and every other request would be refused too. */
  | { kind: 'stop'; code: string; status: number };

export type StepOf<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>;

/** Refusals about the project or the service, not the message. */
const stopping = new Set([
  'unauthorized',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'unsupported_media_type',
]);
const stoppingStatus = new Set([401, 402, 403, 404, 405, 415]);
/** More refusals than this, of entries that are not in the body, mean that other requests have used its keys. */
const mostForeignRefusals = 25;

/**
 * The only transitions of a request (bulk sending, states of a request). They depend on the answer alone, never on the
 * number of attempts: doubt keeps the key, and only a certain refusal leads to the next revision. A refusal of the
 * bytes answers every copy of them, one bound to the key answers every copy under it, and a momentary one answers only
 * its own copy.
 */
export function nextStep(request: SentRequest, answer: Answer): Step {
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

function afterAcceptance(request: SentRequest, answer: Extract<Answer, { kind: 'batch' | 'message' }>): Step {
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

/** A repeated answer may be old enough that its recipient was erased; its key is still this request's. */
function isPruned({ to, replayOf }: Extract<Answer, { kind: 'message' }>): boolean {
  return to === '' && replayOf !== null;
}

function afterRefusal(request: SentRequest, answer: Extract<Answer, { kind: 'refusal' }>): Step {
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
    // It is not about these bytes, so it answers no other copy of them.
    if (request.unanswered > 0 && !positionsOf(request, answer.invalid).length)
      return { kind: 'retry-in-doubt', code };
  }
  if (status === 400 || status === 422 || request.unanswered === 0) return { kind: 'reject', code };
  return { kind: 'retry-in-doubt', code };
}

function afterInvalid(request: SentRequest, invalid: readonly string[]): Step {
  const positions = positionsOf(request, invalid);
  if (positions.length > 0) return { kind: 'remove', positions };
  if (request.unanswered > 0) return { kind: 'retry-in-doubt', code: 'invalid_request' };
  return request.foreignRefusals < mostForeignRefusals
    ? { kind: 'revise', code: 'invalid_request' }
    : { kind: 'reject', code: 'invalid_request' };
}

/** Positions in the body of the recipients that the service named. */
function positionsOf(request: SentRequest, invalid: readonly string[]): number[] {
  const named = new Set(invalid.map(normalizeRecipient));
  return request.body.to.flatMap((to, position) => (named.has(normalizeRecipient(to)) ? [position] : []));
}

/**
 * Credits may have been added meanwhile; then the same key is tried again. A refusal that keeps naming an old balance,
 * although there is enough now, is bound to the key, or the balance is wrong. An unanswered copy may still be accepted,
 * so the key is kept then.
 */
function afterShortage(request: SentRequest, answer: Extract<Answer, { kind: 'refusal' }>): Step {
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

/** Counts how many times `insufficient_credits` was repeated with the same balance. */
export function shortageAfter(before: Shortage | null, balance: number | null | undefined): Shortage | null {
  if (balance === null || balance === undefined) return null;
  return before?.balance === balance ? { balance, repeats: before.repeats + 1 } : { balance, repeats: 0 };
}
