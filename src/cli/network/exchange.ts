import { inDoubtAfter } from '../../client/transport/doubt.js';
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
  /** Of the service at its answer, by the Date header; milliseconds since 1970. */
  serviceTime: number | null;
  /** The JSON body of the request; redact it before it is shown. */
  body: string | null;
}

/** By the head of the answer; its body may still be on the way. */
export const isAccepted = ({ status }: Pick<Exchange, 'status'>): boolean => status !== null && status < 400;

/** By the status alone; `before`: an earlier attempt is in doubt. */
export const isInDoubt = ({ status, requestSent, idempotencyKey }: Exchange, before: boolean): boolean =>
  inDoubtAfter(before, { code: '', status, requestSent }, idempotencyKey === null ? 'verify' : 'send');
