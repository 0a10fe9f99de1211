import { type ErrorEnvelope, type RequestKind, requestRates } from '../../contract/index.js';
import type { Answer } from '../operations/operations.js';
import type { ServiceError } from '../service-error.js';
import type { HttpContext, WrittenAnswer } from './context.js';

/** POST counts as sending, every other method as reading. */
export function kindOf(method: string): RequestKind {
  return method === 'POST' ? 'sending' : 'reading';
}

/** The rate limit in the headers of an answer to an unknown project: none of it used. */
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

/** Writes an answer with the common headers, as a Response or without one. */
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
  const { notes } = context.env;
  if (notes !== undefined && answer.status >= 400)
    notes.code = (answer.body as Partial<ErrorEnvelope>).error?.code ?? null;
  return respond(
    context,
    answer.status,
    answer.body,
    answer.replayed ? { 'Idempotency-Replayed': 'true' } : {},
  );
}

/** The one mapping from an error to the body and headers of its answer. */
export function errorAnswer(error: ServiceError): { body: ErrorEnvelope; headers: Record<string, string> } {
  const headers: Record<string, string> = {};
  const retryAfter = error.retryAfter ?? (error.status === 503 ? 1 : undefined);
  if (retryAfter !== undefined) headers['Retry-After'] = String(Math.max(1, Math.ceil(retryAfter)));
  if (error.code === 'unauthorized') headers['WWW-Authenticate'] = 'Bearer';
  return { body: { error: { ...error.fields, code: error.code, message: error.message } }, headers };
}
