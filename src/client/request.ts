import { clientErrors } from '../contract/index.js';
import { readAnswer } from './answer.js';
import { type ConnectFailure, connectFailure, systemCodeOf } from './connect.js';
import { inDoubtAfter } from './doubt.js';
import { UrtuuError, type UrtuuErrorParts } from './error.js';
import { type AttemptRequest, type Exchange, exchange } from './exchange.js';
import { readIdempotencyKey, type SendOptions, type Settings } from './options.js';
import type { Proof } from './proof.js';
import { type CallKind, planRetry } from './retry.js';
import { newConnection } from './runtime.js';
import { redactorOf } from './secret.js';
import type { SendEndpoint } from './send-endpoints.js';
import type { System } from './system.js';

/** One call of a method, built once: every attempt sends the same bytes. */
export interface Call {
  kind: CallKind;
  /** Follows the base URL; begins with a slash. */
  path: string;
  /** JSON; null for a read. */
  body: string | null;
  /** Null when the caller gave none. */
  idempotencyKey: string | null;
  proof: Proof;
}

/** Makes a call and retries it; rejects with an UrtuuError. */
export type RequestSender = <Result>(call: Call) => Promise<Result>;

export function readCall(path: string, proof: Proof): Call {
  return { kind: 'read', path, body: null, idempotencyKey: null, proof };
}

export function sendCall(endpoint: SendEndpoint, params: object, options: SendOptions | undefined): Call {
  return frozenSendCall(endpoint, bodyOf(params), options);
}

/** A send whose body is JSON already. */
export function frozenSendCall(endpoint: SendEndpoint, body: string, options: SendOptions | undefined): Call {
  return { kind: 'send', ...endpoint, body, idempotencyKey: readIdempotencyKey(options) };
}

export function verifyCall(path: string, params: object, proof: Proof): Call {
  return { kind: 'verify', path, body: bodyOf(params), idempotencyKey: null, proof };
}

/** Encodes an id as one segment of a path. Errors do not repeat it: it may be a secret in the wrong place. */
export function segment(id: unknown): string {
  if (typeof id !== 'string') throw new TypeError('The id must be a string');
  // A URL parser resolves dots, which would request another route.
  if (id === '' || id === '.' || id === '..') throw new RangeError('The id must not be empty, "." or ".."');
  try {
    return encodeURIComponent(id);
  } catch {
    throw new RangeError('The id must be well-formed Unicode');
  }
}

function bodyOf(params: unknown): string {
  if (typeof params !== 'object' || params === null) throw new TypeError('Parameters must be an object');
  return JSON.stringify(params);
}

/** The key lives in this closure only, out of reach of inspect, JSON and errors. */
export function createRequestSender(apiKey: string, settings: Settings, system: System): RequestSender {
  const { baseUrl, fetch, timeout, maxRetries } = settings;
  const authorization = `Bearer ${apiKey}`;
  const redactor = redactorOf(apiKey);

  function attempt({ kind, path, body }: Call, idempotencyKey: string | null): Promise<Exchange> {
    const headers: Record<string, string> = { Authorization: authorization, Accept: 'application/json' };
    if (body !== null) headers['Content-Type'] = 'application/json';
    if (idempotencyKey !== null) headers['Idempotency-Key'] = idempotencyKey;
    const request: AttemptRequest =
      body === null
        ? { method: 'GET', headers, redirect: 'manual' }
        : { method: 'POST', headers, body, redirect: 'manual' };
    // Without an idempotency key, a repeat by the runtime is a second code or a second try.
    if (kind === 'verify') Object.assign(request, newConnection());
    return exchange(fetch, baseUrl + path, request, timeout, system);
  }

  function outcomeOf(exchanged: Exchange, { proof }: Call) {
    if (exchanged.answer !== null) {
      return { requestSent: true, ...readAnswer(exchanged.answer, proof, redactor, system.now()) };
    }
    const { code, cause, begun } = exchanged;
    const failure = begun ? null : connectFailure(cause);
    const parts: UrtuuErrorParts = {
      code,
      message: failure === null ? noAnswerMessage(code, cause) : noConnectionMessage(code, failure),
      status: null,
      retryAfter: null,
      cause: redactor.cause(cause),
    };
    return { ok: false, parts, requestSent: failure === null } as const;
  }

  function noAnswerMessage(code: 'timeout' | 'connection_error', cause: unknown): string {
    const detail = code === 'timeout' ? `${timeout} ms` : systemCodeOf(cause);
    return clientErrors[code].meaning + (detail === null ? '' : ` (${detail})`);
  }

  function noConnectionMessage(code: 'timeout' | 'connection_error', failure: ConnectFailure): string {
    if (code === 'timeout') return `cannot connect to ${baseUrl} within ${timeout} ms`;
    const detail = failure.code === null ? '' : ` (${failure.code})`;
    return `cannot connect to ${baseUrl}: ${failure.reason}${detail}`;
  }

  return async <Result>(call: Call): Promise<Result> => {
    const { kind } = call;
    const callersKey = call.idempotencyKey !== null;
    let key = kind === 'send' && !callersKey ? system.newIdempotencyKey() : call.idempotencyKey;
    let requestSent = false;
    let inDoubt = false;
    for (let retries = 0; ; retries += 1) {
      if (system.ready !== undefined) await system.ready(call.body === null ? 'GET' : 'POST');
      const outcome = outcomeOf(await attempt(call, key), call);
      if (outcome.ok) return outcome.result as Result;
      const { parts } = outcome;
      requestSent ||= outcome.requestSent;
      inDoubt = inDoubtAfter(inDoubt, { ...parts, requestSent: outcome.requestSent }, kind);
      const retry = planRetry(parts, { kind, callersKey, retries, maxRetries }, system.random);
      if (retry === null) {
        throw new UrtuuError({ ...parts, requestSent, inDoubt, idempotencyKey: key, attempts: retries + 1 });
      }
      if (retry.newKey) key = system.newIdempotencyKey();
      await system.sleep(retry.wait);
    }
  };
}
