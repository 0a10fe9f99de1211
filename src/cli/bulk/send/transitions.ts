import { normalizeAddress, readNumber } from '../../../contract/index.js';

/** What came back for one request of a job. */
export type Answer =
  | ({ kind: 'batch'; id: string; total: number } & Accepted)
  | ({ kind: 'message'; id: string; to: string; failed?: true } & Accepted)
  /** The service said no, in its own words. */
  | ({ kind: 'refusal'; code: string; status: number } & RefusalFields)
  /** Nobody knows: no answer, a fault on the way, a 5xx, or an answer that is not the service's. */
  | { kind: 'doubt'; code: string }
  /** No byte of the request left. */
  | { kind: 'unsent'; code: string };

interface Accepted {
  /** Null when the answer has no price that is a finite number of 0 or more. */
  credits: number | null;
  balance: number | null;
  /** When the earlier request was accepted whose answer this repeats ('' where it is not said); null when new. */
  replayOf: string | null;
}

interface RefusalFields {
  /** Seconds. */
  retryAfter?: number | null;
  invalid?: readonly string[] | null;
  /** The failed message of `provider_failed`. */
  id?: string | null;
  /** What the refusal says the balance was, and what it needed. */
  balance?: number | null;
  required?: number | null;
  /** What the service said the balance is when it was asked right after `insufficient_credits`. */
  actual?: number | null;
}

/** What is known of a request before the answer. */
export interface Sent {
  kind: 'single' | 'batch';
  /** The recipients of the body as it was sent. */
  to: readonly string[];
  /** Copies of it under this key, of this run and of earlier ones, that nothing has answered. */
  unanswered: number;
  /** `invalid_request` answers in a row that named nothing of the body. */
  foreign: number;
  /** The last `insufficient_credits` of this revision, and how often it came back the same. */
  short: { balance: number; repeats: number } | null;
}

interface Acceptance {
  id: string;
  credits: number;
  replayOf: string | null;
}

export type Step =
  | ({ to: 'accepted' } & Acceptance)
  /** The key's earlier result, of another body: its messages say who of this one was sent to. */
  | ({ to: 'compared'; total: number } & Acceptance)
  /** Not for what was asked. `stops`: nor can the other answers of the service be believed. */
  | { to: 'alarm'; reason: string; stops: boolean }
  | { to: 'rejected'; code: string }
  | { to: 'failed'; code: string; id: string | null }
  /** Takes these positions of the body out and goes on with the next revision. */
  | { to: 'removed'; positions: number[] }
  /** The same body with the next revision: the refusal is bound to the old key. */
  | { to: 'revised'; code: 'invalid_request' | 'insufficient_credits' }
  /** The same bytes with the same key, after a backoff. */
  | { to: 'again'; code: string }
  /** The same: the request did not leave. */
  | { to: 'unsent'; code: string }
  /** Not sent; the same key when the wait is over. `seconds` null: nobody said how long. */
  | { to: 'wait'; for: 'project' | 'recipient'; seconds: number | null }
  /** Not sent; the same key at once, since the reason seems to be gone. */
  | { to: 'repeat' }
  /** Not sent, and nothing else can be: the job stops. */
  | { to: 'stop'; code: string; status: number };

/** Refusals that say nothing about the message: every other request would get them too. */
const stopping = new Set(['unauthorized', 'not_found', 'method_not_allowed', 'unsupported_media_type']);
const stoppingStatus = new Set([401, 402, 403, 404, 405, 415]);
/** So many refusals of entries that are not in the body are keys used up, not bad entries. */
const mostForeign = 25;

/**
 * The only ways on from an answer (bulk sending, states of a request). The answer alone decides, never the
 * number of tries: doubt leads to the same key and nowhere else, and only a refusal that is certain leads
 * to the next revision. A refusal of the bytes answers every copy of them, and one that is bound to the key
 * every copy under it; a refusal of the moment answers only its own copy.
 */
export function next(sent: Sent, answer: Answer): Step {
  switch (answer.kind) {
    case 'doubt':
      return { to: 'again', code: answer.code };
    case 'unsent':
      return { to: 'unsent', code: answer.code };
    case 'batch':
    case 'message':
      return nextAfterAcceptance(sent, answer);
    case 'refusal':
      return nextAfterRefusal(sent, answer);
  }
}

function nextAfterAcceptance(sent: Sent, answer: Extract<Answer, { kind: 'batch' | 'message' }>): Step {
  const { id, credits, replayOf } = answer;
  if (credits === null) return { to: 'alarm', reason: `${answer.kind} ${id} has no price`, stops: true };
  if (answer.kind === 'message') {
    const isOurs = isPruned(answer) || sameRecipient(answer.to, sent.to[0] ?? '');
    if (isOurs && answer.failed) return { to: 'failed', code: 'provider_failed', id };
    return isOurs
      ? { to: 'accepted', id, credits, replayOf }
      : { to: 'alarm', reason: `message ${id} is for ${answer.to}, not for ${sent.to[0]}`, stops: false };
  }
  return answer.total === sent.to.length
    ? { to: 'accepted', id, credits, replayOf }
    : { to: 'compared', total: answer.total, id, credits, replayOf };
}

function nextAfterRefusal(sent: Sent, answer: Extract<Answer, { kind: 'refusal' }>): Step {
  const { code, status, retryAfter = null } = answer;
  if (code === 'provider_failed') return { to: 'failed', code, id: answer.id ?? null };
  if (code === 'insufficient_credits') return nextWithoutCredits(sent, answer);
  if (code === 'recipient_rate_limited' && sent.kind === 'single') {
    return { to: 'wait', for: 'recipient', seconds: retryAfter };
  }
  if (status === 429) return { to: 'wait', for: 'project', seconds: retryAfter };
  if (stopping.has(code) || stoppingStatus.has(status)) return { to: 'stop', code, status };
  if (code === 'invalid_request' && answer.invalid?.length) {
    if (sent.kind === 'batch') return nextWithInvalid(sent, answer.invalid);
    // Not about these bytes, so it answers no other copy of them.
    if (sent.unanswered > 0 && !positionsOf(sent, answer.invalid).length) return { to: 'again', code };
  }
  if (status === 400 || status === 422 || sent.unanswered === 0) return { to: 'rejected', code };
  return { to: 'again', code };
}

function nextWithInvalid(sent: Sent, invalid: readonly string[]): Step {
  const positions = positionsOf(sent, invalid);
  if (positions.length > 0) return { to: 'removed', positions };
  if (sent.unanswered > 0) return { to: 'again', code: 'invalid_request' };
  return sent.foreign < mostForeign
    ? { to: 'revised', code: 'invalid_request' }
    : { to: 'rejected', code: 'invalid_request' };
}

/** Where the body has what the service says is invalid. */
function positionsOf(sent: Sent, invalid: readonly string[]): number[] {
  const named = new Set(invalid.map(recipientForm));
  return sent.to.flatMap((to, position) => (named.has(recipientForm(to)) ? [position] : []));
}

/**
 * Credits may have been topped up since: then the same key is tried again. When the refusal keeps naming an
 * old balance although there is enough now, it is an old answer that the service has bound to the key, or
 * the balance is a lie: a copy that nothing has answered may still be accepted, so then the key stays.
 */
function nextWithoutCredits(sent: Sent, answer: Extract<Answer, { kind: 'refusal' }>): Step {
  const { balance = null, required = null, actual = null } = answer;
  const enough = actual !== null && required !== null && actual >= required;
  if (!enough) return { to: 'stop', code: answer.code, status: answer.status };
  const outdated = balance !== actual && sent.short !== null && sent.short.balance === balance;
  const isBound = outdated && sent.short !== null && sent.short.repeats >= 1;
  return isBound && sent.unanswered === 0
    ? { to: 'revised', code: 'insufficient_credits' }
    : { to: 'repeat' };
}

/** Counts how often an `insufficient_credits` came back with the same balance in it. */
export function countShort(short: Sent['short'], balance: number | null | undefined): Sent['short'] {
  if (balance === null || balance === undefined) return null;
  return short?.balance === balance ? { balance, repeats: short.repeats + 1 } : { balance, repeats: 0 };
}

/** A repeated answer that is old enough may have lost its recipient; its key is still that of this request. */
function isPruned({ to, replayOf }: Extract<Answer, { kind: 'message' }>): boolean {
  return to === '' && replayOf !== null;
}

function sameRecipient(one: string, other: string): boolean {
  return recipientForm(one) === recipientForm(other);
}

/** A recipient as it is compared, however it is written. */
export function recipientForm(written: string): string {
  const reading = readNumber(written);
  return reading.kind === 'number' ? reading.number : (normalizeAddress(written) ?? written);
}
