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

/** One call of a method, built once: every attempt sends these same bytes. */
export interface Call {
  kind: CallKind;
  /** After the base URL, its slash included. */
  path: string;
  /** JSON text; null for a read. */
  body: string | null;
  /** The caller's idempotency key. */
  idempotencyKey: string | null;
  /** What a success has to say. */
  proof: Proof;
}

/** Makes a call: its result, or an UrtuuError. */
export type Request = <Result>(call: Call) => Promise<Result>;

export function readCall(path: string, proof: Proof): Call {
  return { kind: 'read', path, body: null, idempotencyKey: null, proof };
}

export function sendCall(endpoint: SendEndpoint, params: object, options: SendOptions | undefined): Call {
  return frozenSendCall(endpoint, bodyOf(params), options);
}

/** A send whose body is JSON text already, and goes out as it is. */
export function frozenSendCall(endpoint: SendEndpoint, body: string, options: SendOptions | undefined): Call {
  return { kind: 'send', ...endpoint, body, idempotencyKey: readIdempotencyKey(options) };
}

export function verifyCall(path: string, params: object, proof: Proof): Call {
  return { kind: 'verify', path, body: bodyOf(params), idempotencyKey: null, proof };
}

/** An id as one segment of a path. Errors do not repeat it: it may be a secret in the wrong place. */
export function segment(id: unknown): string {
  if (typeof id !== 'string') throw new TypeError('The id must be a string');
  // A URL parser would take dots for "this folder" and "the one above" and ask another route.
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

/** The key lives in this closure only, where neither inspect nor JSON nor an error can reach it. */
export function createRequest(apiKey: string, settings: Settings, system: System): Request {
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
    // Without a key a request that the runtime repeats is a second code, or a second try.
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
      message: failure === null ? brokenOff(code, cause) : notConnected(code, failure),
      status: null,
      retryAfter: null,
      cause: redactor.cause(cause),
    };
    return { ok: false, parts, requestSent: failure === null } as const;
  }

  function brokenOff(code: 'timeout' | 'connection_error', cause: unknown): string {
    const detail = code === 'timeout' ? `${timeout} ms` : systemCodeOf(cause);
    return clientErrors[code].meaning + (detail === null ? '' : ` (${detail})`);
  }

  function notConnected(code: 'timeout' | 'connection_error', failure: ConnectFailure): string {
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
