import { type ErrorEnvelope, type RequestKind, requestRates } from '../../contract/index.js';
import type { Answer } from '../operations/operations.js';
import type { ServiceError } from '../service-error.js';
import type { HttpContext, WrittenAnswer } from './context.js';

/** The kind of allowance a method uses: POST counts as sending, everything else as reading. */
export function kindOf(method: string): RequestKind {
  return method === 'POST' ? 'sending' : 'reading';
}

/** What the rate headers say before a project is known. */
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

/** Gives an answer its common headers and hands it over, as a Response or without one. */
export function write(context: HttpContext, { status, body, headers }: WrittenAnswer): Response {
  const common = commonHeaders(context.get('requestId'), context.get('rateLimit'));
  const answer = { status, body, headers: { ...common, ...headers } };
  const { plain } = context.env;
  if (plain === undefined) return new Response(status === 304 ? null : body, answer);
  plain.answer = answer;
  return plain.placeholder;
}

export function respond(
  context: HttpContext,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): Response {
  return write(context, { status, body: JSON.stringify(body), headers });
}

export function respondToSend(context: HttpContext, answer: Answer): Response {
  return respond(
    context,
    answer.status,
    answer.body,
    answer.replayed ? { 'Idempotency-Replayed': 'true' } : {},
  );
}

/** The one mapping from a refusal to an answer's body and headers. */
export function errorAnswer(error: ServiceError): { body: ErrorEnvelope; headers: Record<string, string> } {
  const headers: Record<string, string> = {};
  // What is unavailable now may be asked for again.
  const retryAfter = error.retryAfter ?? (error.status === 503 ? 1 : undefined);
  if (retryAfter !== undefined) headers['Retry-After'] = String(Math.max(1, Math.ceil(retryAfter)));
  if (error.code === 'unauthorized') headers['WWW-Authenticate'] = 'Bearer';
  return { body: { error: { ...error.fields, code: error.code, message: error.message } }, headers };
}
