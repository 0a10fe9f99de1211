import { isRedirect } from '../../../contract/index.js';

/** The answer to one request of a job. */
export type Answer =
  | ({ kind: 'batch'; id: string; total: number } & Accepted)
  | ({ kind: 'message'; id: string; to: string; failed?: true } & Accepted)
  /** An error of the service itself. */
  | ({ kind: 'refusal'; code: string; status: number } & RefusalFields)
  /**
   * The outcome is unknown: no answer, a broken connection, a 5xx, or an answer from something else. `redirect`: the
   * target of a 3xx.
   */
  | { kind: 'doubt'; code: string; redirect?: string }
  /** No byte of the request left; `detail` explains why. */
  | { kind: 'unsent'; code: string; detail: string };

interface Accepted {
  /** Null if the answer has no price that is a finite number of at least 0. */
  credits: number | null;
  balance: number | null;
  /** For a repeated answer: when the earlier request was accepted ('' if unknown). Null for a new one. */
  replayOf: string | null;
  /** By the service's clock, in milliseconds; null if the answer does not say. */
  acceptedAt: number | null;
}

interface RefusalFields {
  /** Seconds. */
  retryAfter?: number | null;
  invalid?: readonly string[] | null;
  /** The failed message, for `provider_failed`. */
  id?: string | null;
  /** The balance and the price, according to the refusal. */
  balance?: number | null;
  required?: number | null;
  /** The balance read right after `insufficient_credits`. */
  actual?: number | null;
}

/** The fields of the client's error that determine the outcome of a send. */
interface FailedRequest {
  code: string;
  message: string;
  status: number | null;
  retryAfter?: number | null;
  invalid?: readonly string[];
  id?: string;
  balance?: number;
  required?: number;
  /** False only if no byte of the request left. */
  requestSent?: boolean;
}

/** Reads the result of a send. A result without the service's fields is not the service's answer. */
export function readResult(kind: 'single' | 'batch', result: unknown, replayed = false): Answer {
  const {
    id,
    total,
    to,
    status,
    credits,
    balance,
    created_at: at,
  } = (result ?? {}) as Record<string, unknown>;
  const figures = {
    credits: isAmount(credits) && credits >= 0 ? credits : null,
    balance: isAmount(balance) ? balance : null,
    replayOf: replayed ? (typeof at === 'string' ? at : '') : null,
    acceptedAt: timeOf(at),
  };
  if (typeof id === 'string' && id !== '') {
    if (kind === 'batch' && isCount(total)) return { kind: 'batch', id, total, ...figures };
    if (kind === 'single' && typeof to === 'string')
      return { kind: 'message', id, to, ...(status === 'failed' ? { failed: true } : {}), ...figures };
  }
  return { kind: 'doubt', code: 'unexpected_response' };
}

const timeOf = (at: unknown): number | null => {
  const time = typeof at === 'string' ? Date.parse(at) : Number.NaN;
  return Number.isNaN(time) ? null : time;
};
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isAmount = (value: unknown): value is number => Number.isFinite(value);

/** Reads an error of the client. Rethrows any other error, which is internal. */
export function readError(error: unknown): Extract<Answer, { kind: 'doubt' | 'unsent' | 'refusal' }> {
  if (!isFailedRequest(error)) throw error;
  const { code, status, requestSent } = error;
  if (status === null && requestSent === false) return { kind: 'unsent', code, detail: error.message };
  if (code !== 'provider_failed' && (status === null || isDoubtful(code, status))) {
    return { kind: 'doubt', code, ...(isRedirect(status) ? { redirect: error.message } : {}) };
  }
  return {
    kind: 'refusal',
    code,
    status: status ?? 502,
    retryAfter: error.retryAfter ?? null,
    invalid: error.invalid ?? null,
    id: error.id ?? null,
    balance: error.balance ?? null,
    required: error.required ?? null,
  };
}

/**
 * Includes a 4xx that is not the service's own. More cautious than the client: after one about a race of requests, a job
 * repeats the request with its key.
 */
function isDoubtful(code: string, status: number): boolean {
  if (status >= 500 || status < 400) return true;
  return code === 'unexpected_response' || status === 408 || status === 409 || status === 425;
}

function isFailedRequest(error: unknown): error is FailedRequest {
  const { code, status } = (error ?? {}) as Partial<FailedRequest>;
  return typeof code === 'string' && (status === null || typeof status === 'number');
}
