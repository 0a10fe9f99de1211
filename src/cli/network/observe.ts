import type { FetchLike } from '../../client/index.js';
import type { Redactor } from '../../client/secret.js';
import { connectFailure } from '../../client/transport/connect.js';
import { inDoubtAfter } from '../../client/transport/doubt.js';
import { rateLimitOf } from '../../client/transport/rate-limit.js';
import type { Exchange } from './exchange.js';

interface Destination {
  baseUrl: string;
  redactor: Redactor;
}

/** Calls `watch` when an exchange starts, and when the head of its answer has arrived or failed to arrive. */
export function observed(
  fetch: FetchLike,
  { baseUrl, redactor }: Destination,
  elapsed: () => number,
  watch: { began(exchange: Exchange): void; ended(exchange: Exchange): void },
): FetchLike {
  return async (url, init) => {
    const exchange: Exchange = {
      method: init.method,
      url: redactor.text(url),
      baseUrl,
      kind: init.method === 'GET' ? 'reading' : 'sending',
      idempotencyKey: init.headers['Idempotency-Key'] ?? null,
      status: null,
      isInDoubt: (before) =>
        inDoubtAfter(before, { ...exchange, code: '' }, exchange.idempotencyKey === null ? 'verify' : 'send'),
      requestSent: true,
      requestId: null,
      replayed: false,
      rate: null,
      milliseconds: 0,
      serviceTime: null,
      body: init.body ?? null,
    };
    const started = elapsed();
    watch.began(exchange);
    try {
      const response = await fetch(url, init);
      exchange.status = response.status;
      const requestId = response.headers.get('x-request-id');
      exchange.requestId = requestId === null ? null : redactor.text(requestId);
      exchange.replayed = response.headers.get('idempotency-replayed') === 'true';
      exchange.serviceTime = timeOf(response.headers.get('date'));
      exchange.rate = rateLimitOf((name) => response.headers.get(name));
      return response;
    } catch (error) {
      exchange.requestSent = connectFailure(error) === null;
      throw error;
    } finally {
      exchange.milliseconds = elapsed() - started;
      watch.ended(exchange);
    }
  };
}

function timeOf(header: string | null): number | null {
  const time = Date.parse(header ?? '');
  return Number.isNaN(time) ? null : time;
}

/** Field names and sizes of a request body, without recipients, texts or codes. */
function redactedBody(body: string): string {
  try {
    const fields = Object.entries(JSON.parse(body) as Record<string, unknown>);
    return fields.map(([name, value]) => `${name}=${sizeOf(value)}`).join(' ');
  } catch {
    return `[${body.length} characters]`;
  }
}

/** A list can be filtered by recipient. */
const redactedUrl = (url: string) =>
  url.replace(/([?&]to=)([^&#]*)/g, (_, name, value) => `${name}${sizeOf(value)}`);

function sizeOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.length} entries]`;
  return typeof value === 'string' ? `[${value.length} characters]` : String(value);
}

/** One line for `--verbose`. */
export function verboseLine(exchange: Exchange): string {
  const { method, url, status, milliseconds, requestId, rate, idempotencyKey, replayed, body } = exchange;
  return [
    `${method} ${redactedUrl(url)} -> ${status ?? 'no answer'} in ${Math.round(milliseconds)} ms`,
    ...(body === null ? [] : [redactedBody(body)]),
    ...(idempotencyKey === null ? [] : [`idempotency key ${idempotencyKey}`]),
    ...(replayed ? ['replayed'] : []),
    ...(requestId === null ? [] : [`request ${requestId}`]),
    ...(rate === null ? [] : [`${rate.remaining} of ${rate.limit} requests left`]),
  ].join(', ');
}
