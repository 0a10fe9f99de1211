import { connectFailure } from '../../client/connect.js';
import type { FetchLike } from '../../client/index.js';
import type { Redactor } from '../../client/secret.js';
import type { RequestKind } from '../../contract/index.js';

/** One HTTP request and the head of its answer, for the rate limiter, `--verbose` and error messages. */
export interface Exchange {
  method: string;
  url: string;
  baseUrl: string;
  /** `sending` for everything posted; each kind has its rate limit. */
  kind: RequestKind;
  idempotencyKey: string | null;
  /** Null when no answer arrived. */
  status: number | null;
  /** False when certainly nothing of the request left. */
  requestSent: boolean;
  requestId: string | null;
  /** The answer is that of an earlier request with the same key. */
  replayed: boolean;
  /** X-RateLimit-Limit and X-RateLimit-Remaining; null where the answer had none. */
  rate: { limit: number; remaining: number } | null;
  milliseconds: number;
  /** The Date header. */
  date: string | null;
  /** The JSON body of the request; redact it before it is shown. */
  body: string | null;
}

/** By the head of the answer; its body may still be on the way. */
export const isAccepted = ({ status }: Pick<Exchange, 'status'>): boolean => status !== null && status < 400;

interface Destination {
  baseUrl: string;
  redactor: Redactor;
}

/** Calls `watch` when an exchange begins, and when the head of its answer has arrived or failed to. */
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
      requestSent: true,
      requestId: null,
      replayed: false,
      rate: null,
      milliseconds: 0,
      date: null,
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
      exchange.date = response.headers.get('date');
      exchange.rate = rateOf(response.headers);
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

function rateOf(headers: { get(name: string): string | null }): Exchange['rate'] {
  const limit = headers.get('x-ratelimit-limit');
  const remaining = headers.get('x-ratelimit-remaining');
  if (limit === null || remaining === null || !/^\d+$/.test(limit) || !/^\d+$/.test(remaining)) return null;
  return { limit: Number(limit), remaining: Number(remaining) };
}

/** Field names and sizes of a request body, without recipients, texts or codes. */
export function redactedBody(body: string): string {
  try {
    const fields = Object.entries(JSON.parse(body) as Record<string, unknown>);
    return fields.map(([name, value]) => `${name}=${sizeOf(value)}`).join(' ');
  } catch {
    return `[${body.length} characters]`;
  }
}

function sizeOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.length} entries]`;
  return typeof value === 'string' ? `[${value.length} characters]` : String(value);
}
