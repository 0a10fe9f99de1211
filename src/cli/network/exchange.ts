import { connectFailure } from '../../client/connect.js';
import type { FetchLike } from '../../client/index.js';
import type { Redactor } from '../../client/secret.js';
import type { RequestKind } from '../../contract/index.js';

/** One HTTP request and what came back, as the rate limiter, `--verbose` and error reports see it. */
export interface Exchange {
  method: string;
  url: string;
  /** Where the client's requests go. */
  baseUrl: string;
  /** `sending` for everything posted; the allowances are counted by it. */
  kind: RequestKind;
  idempotencyKey: string | null;
  /** Null when no answer arrived. */
  status: number | null;
  /** False when it is known that nothing of the request left. */
  requestSent: boolean;
  requestId: string | null;
  /** The answer repeats that of an earlier request with the same key. */
  replayed: boolean;
  /** X-RateLimit-Limit and X-RateLimit-Remaining; null where the answer had none. */
  rate: { limit: number; remaining: number } | null;
  milliseconds: number;
  /** The Date header, by which the clocks can be compared. */
  date: string | null;
  /** The request's JSON body, for `--verbose`; texts have to be redacted before they are shown. */
  body: string | null;
}

/** As far as the head of the answer tells; its body may not be there yet. */
export const isAccepted = ({ status }: Pick<Exchange, 'status'>): boolean => status !== null && status < 400;

/** Where the requests of a client go, and what must not be told of them. */
interface Destination {
  baseUrl: string;
  redactor: Redactor;
}

/** A fetch that tells of every exchange as it begins, and when its answer's head arrived or failed to. */
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

/** What `--verbose` shows of a request body: field names and sizes, never recipients, texts or codes. */
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
