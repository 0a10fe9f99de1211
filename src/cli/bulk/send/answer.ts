import type { Answer } from './transitions.js';

/** The fields of the client's error that tell what a send came to. */
interface FailedRequest {
  code: string;
  status: number | null;
  retryAfter?: number | null;
  invalid?: readonly string[];
  id?: string;
  balance?: number;
  required?: number;
  /** False only when no byte of the request left. */
  requestSent?: boolean;
}

/** Reads the result of `sendBulk` or `send`. An answer without its own fields is no answer of the service. */
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
  };
  if (typeof id === 'string' && id !== '') {
    if (kind === 'batch' && isCount(total)) return { kind: 'batch', id, total, ...figures };
    if (kind === 'single' && typeof to === 'string')
      return { kind: 'message', id, to, ...(status === 'failed' ? { failed: true } : {}), ...figures };
  }
  return { kind: 'doubt', code: 'unexpected_response' };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isAmount = (value: unknown): value is number => Number.isFinite(value);

/** Reads what a send threw; anything that is not the client's error is a fault of the program. */
export function readError(error: unknown): Extract<Answer, { kind: 'doubt' | 'unsent' | 'refusal' }> {
  if (!isFailedRequest(error)) throw error;
  const { code, status, requestSent } = error;
  if (status === null && requestSent === false) return { kind: 'unsent', code };
  if (
    code !== 'provider_failed' &&
    (status === null || status >= 500 || status < 400 || doubtful(code, status))
  ) {
    return { kind: 'doubt', code };
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

/** 4xx answers that do not say that nothing was done: not the service's own, or about a race of requests. */
function doubtful(code: string, status: number): boolean {
  return code === 'unexpected_response' || status === 408 || status === 409 || status === 425;
}

function isFailedRequest(error: unknown): error is FailedRequest {
  const { code, status } = (error ?? {}) as Partial<FailedRequest>;
  return typeof code === 'string' && (status === null || typeof status === 'number');
}
