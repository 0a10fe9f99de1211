import type { Redactor } from '../secret.js';
import { type Answer, requestIdOf } from './answer.js';
import { type RateLimit, rateLimitOf } from './rate-limit.js';

/** An HTTP answer to one attempt of a call, retried or not, from the service or from a proxy. */
export interface ResponseEvent {
  /** Sends and verifications are POST, reads are GET. */
  method: 'GET' | 'POST';
  /** Path of the request without its query, such as `/v1/sms`; may contain an id. */
  path: string;
  /** HTTP status. */
  status: number;
  /** 1 for the first attempt of the call, 2 for its first retry ... */
  attempt: number;
  /** Milliseconds from the request to the end of the answer. */
  durationMs: number;
  /** X-Request-Id; null when absent. */
  requestId: string | null;
  /** The project's rate limit; null if the answer does not have it. */
  rateLimit: RateLimit | null;
}

/**
 * Called for every HTTP answer, before the call resolves or rejects. Attempts without an answer are not reported;
 * the next `attempt`, or the error of the call, counts them. The client does not wait for a promise, and ignores errors.
 * @param event the answer
 */
export type ResponseHook = (event: ResponseEvent) => void;

/**
 * Never throws: a hook must not change the outcome of a call.
 * @internal
 */
export function callHook(
  hook: ResponseHook,
  request: Pick<ResponseEvent, 'method' | 'path' | 'attempt' | 'durationMs'>,
  answer: Answer,
  redactor: Redactor,
): void {
  const { method, path, attempt, durationMs } = request;
  const event: ResponseEvent = {
    method,
    path,
    status: answer.status,
    attempt,
    durationMs,
    requestId: requestIdOf(answer, redactor),
    rateLimit: rateLimitOf(answer.header),
  };
  try {
    const result = hook(event) as PromiseLike<unknown> | undefined;
    result?.then?.(null, () => {});
  } catch {}
}
