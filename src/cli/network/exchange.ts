import type { RequestKind } from '../../contract/index.js';

/** One HTTP request and the head of its answer, for the rate limiter, `--verbose` and error messages. */
export interface Exchange {
  method: string;
  url: string;
  baseUrl: string;
  /** `sending` for every POST; each kind has its rate limit. */
  kind: RequestKind;
  idempotencyKey: string | null;
  /** Null without an answer. */
  status: number | null;
  /** Of a send, by the status alone; `before`: whether an earlier attempt is in doubt. */
  isInDoubt(before: boolean): boolean;
  /** False if certainly nothing of the request was sent. */
  requestSent: boolean;
  requestId: string | null;
  /** Whether the answer is the one to an earlier request with the same key. */
  replayed: boolean;
  /** X-RateLimit-Limit and X-RateLimit-Remaining; null if the answer has none. */
  rate: { limit: number; remaining: number } | null;
  milliseconds: number;
  /** The service's time from the Date header, in milliseconds since 1970. */
  serviceTime: number | null;
  /** The JSON body of the request; redact it before showing it. */
  body: string | null;
}

/** By the head of the answer; its body may still be arriving. */
export const isAccepted = ({ status }: Pick<Exchange, 'status'>): boolean => status !== null && status < 400;
