import { clientErrors } from '../contract/index.js';
import { readAnswer } from './answer.js';
import { UrtuuError, type UrtuuErrorParts } from './error.js';
import { type AttemptRequest, type Exchange, exchange } from './exchange.js';
import { readIdempotencyKey, type SendOptions, type Settings } from './options.js';
import { type CallKind, planRetry } from './retry.js';
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
}

/** Makes a call: its result, or an UrtuuError. */
export type Request = <Result>(call: Call) => Promise<Result>;

export function readCall(path: string): Call {
  return { kind: 'read', path, body: null, idempotencyKey: null };
}

export function sendCall(path: string, params: object, options: SendOptions | undefined): Call {
  return { kind: 'send', path, body: bodyOf(params), idempotencyKey: readIdempotencyKey(options) };
}

export function verifyCall(path: string, params: object): Call {
  return { kind: 'verify', path, body: bodyOf(params), idempotencyKey: null };
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

  function attempt({ path, body }: Call, idempotencyKey: string | null): Promise<Exchange> {
    const headers: Record<string, string> = { Authorization: authorization, Accept: 'application/json' };
    if (body !== null) headers['Content-Type'] = 'application/json';
    if (idempotencyKey !== null) headers['Idempotency-Key'] = idempotencyKey;
    const request: AttemptRequest =
      body === null
        ? { method: 'GET', headers, redirect: 'manual' }
        : { method: 'POST', headers, body, redirect: 'manual' };
    return exchange(fetch, baseUrl + path, request, timeout, system);
  }

  return async <Result>(call: Call): Promise<Result> => {
    const callersKey = call.idempotencyKey !== null;
    let key = call.kind === 'send' && !callersKey ? system.newIdempotencyKey() : call.idempotencyKey;
    for (let retries = 0; ; retries += 1) {
      if (system.ready !== undefined) await system.ready(call.body === null ? 'GET' : 'POST');
      const outcome = outcomeOf(await attempt(call, key), system, timeout);
      if (outcome.ok) return outcome.result as Result;
      const { kind } = call;
      const retry = planRetry(outcome.parts, { kind, callersKey, retries, maxRetries }, system.random);
      if (retry === null) throw new UrtuuError(withoutSecret(outcome.parts, apiKey));
      if (retry.newKey) key = system.newIdempotencyKey();
      await system.sleep(retry.wait);
    }
  };
}

function outcomeOf(exchanged: Exchange, system: System, timeout: number) {
  if (exchanged.answer !== null) return readAnswer(exchanged.answer, system.now());
  const { code, cause } = exchanged;
  const detail = code === 'timeout' ? `${timeout} ms` : systemCodeOf(cause);
  const message = clientErrors[code].meaning + (detail === null ? '' : ` (${detail})`);
  const parts: UrtuuErrorParts = { code, message, status: null, retryAfter: null, cause };
  return { ok: false, parts } as const;
}

/** `ECONNREFUSED` and the like: fetch hides it in the cause of its TypeError. */
function systemCodeOf(cause: unknown): string | null {
  let error = cause;
  // Causes can go round in a circle; fetch nests two of them.
  for (let depth = 0; depth < 4 && error instanceof Error; depth += 1, error = error.cause) {
    if ('code' in error && typeof error.code === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(error.code))
      return error.code;
  }
  return null;
}

/** Shorter keys are no secrets, and would tear words apart. */
const shortestSecret = 8;

/** An answer may repeat the key it was asked with; an error, which ends up in logs, must not. */
function withoutSecret(parts: UrtuuErrorParts, apiKey: string): UrtuuErrorParts {
  if (apiKey.length < shortestSecret) return parts;
  const hide = <Value>(value: Value) =>
    (typeof value === 'string' ? value.replaceAll(apiKey, '[API key]') : value) as Value;
  const { invalid, id } = parts.fields ?? {};
  return {
    ...parts,
    code: hide(parts.code),
    message: hide(parts.message),
    fields: {
      ...parts.fields,
      ...(invalid && { invalid: invalid.map(hide) }),
      ...(id !== undefined && { id: hide(id) }),
    },
  };
}
