import { type ErrorEnvelope, type RequestKind, requestRates } from '../../contract/index.js';
import type { ServiceError } from '../errors/service-error.js';
import type { WrittenAnswer } from './call.js';

/** POST counts as sending, every other method as reading. */
export function kindOf(method: string): RequestKind {
  return method === 'POST' ? 'sending' : 'reading';
}

/** The rate limit shown before the project is known: nothing is used yet. */
export function fullRateLimit(kind: RequestKind): { limit: number; remaining: number } {
  const { burst } = requestRates[kind];
  return { limit: burst, remaining: burst };
}

/** The headers of every answer. */
export function commonHeaders(
  requestId: string,
  rateLimit: { limit: number; remaining: number },
): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'X-Request-Id': requestId,
    'X-RateLimit-Limit': String(rateLimit.limit),
    'X-RateLimit-Remaining': String(rateLimit.remaining),
  };
}

/** An answer without the common headers. */
export function jsonAnswer(
  status: number,
  body: object,
  headers: Record<string, string> = {},
): WrittenAnswer {
  return { status, headers, body: JSON.stringify(body) };
}

/** The only mapping from errors to the body and headers of answers. */
export function errorAnswer(error: ServiceError): { body: ErrorEnvelope; headers: Record<string, string> } {
  const headers: Record<string, string> = {};
  const retryAfter = error.retryAfter ?? (error.status === 503 ? 1 : undefined);
  if (retryAfter !== undefined) headers['Retry-After'] = String(Math.max(1, Math.ceil(retryAfter)));
  if (error.allow !== undefined) headers.Allow = error.allow;
  if (error.code === 'unauthorized') headers['WWW-Authenticate'] = 'Bearer';
  return { body: { error: { ...error.fields, code: error.code, message: error.message } }, headers };
}
