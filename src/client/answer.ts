import { clientErrors, type ErrorCode, maxInvalidEntries, serviceErrors } from '../contract/index.js';
import type { AnyErrorFields, UrtuuErrorParts } from './error.js';
import { readRetryAfter } from './retry.js';

/** An answer as it arrived. */
export interface Answer {
  status: number;
  /** Null when there was none to read, or more than the client reads. */
  body: Uint8Array | null;
  /** The Retry-After header. */
  retryAfter: string | null;
}

export type Outcome = { ok: true; result: object } | { ok: false; parts: UrtuuErrorParts };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Any 2xx but 204, which says nothing. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300 && status !== 204;
}

/** What an answer means: a success with a JSON object is a result, everything else an error. */
export function readAnswer({ status, body, retryAfter }: Answer, now: number): Outcome {
  const record = parseObject(body);
  if (record !== null && isSuccess(status)) return { ok: true, result: record };
  const seconds = readRetryAfter(retryAfter, now);
  const parts = record === null ? null : readError(record, status, seconds);
  return { ok: false, parts: parts ?? unexpected(status, seconds) };
}

function unexpected(status: number, retryAfter: number | null): UrtuuErrorParts {
  const message = `HTTP ${status}: ${clientErrors.unexpected_response.meaning}`;
  return { code: 'unexpected_response', message, status, retryAfter };
}

type JsonObject = Record<string, unknown>;

function parseObject(body: Uint8Array | null): JsonObject | null {
  if (body === null) return null;
  try {
    const value: unknown = JSON.parse(utf8.decode(body));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The service's error in `error` or at the top level; null when there is no code. */
function readError(body: JsonObject, status: number, retryAfter: number | null): UrtuuErrorParts | null {
  const places = isObject(body.error) ? [body.error, body] : [body];
  const pick: Picker = (name, isValid) => places.map((place) => place[name]).find(isValid);
  const code = pick('code', isText);
  if (code === undefined) return null;
  const message = pick('message', isText) ?? meaningOf(code) ?? `HTTP ${status}`;
  return { code, message, status, retryAfter, fields: fieldsOf(code, pick) };
}

type Picker = <Value>(name: string, isValid: (value: unknown) => value is Value) => Value | undefined;

function meaningOf(code: string): string | undefined {
  return Object.hasOwn(serviceErrors, code)
    ? serviceErrors[code as keyof typeof serviceErrors].meaning
    : undefined;
}

/** The fields of a code, those left out that are missing or of another type than they should be. */
function fieldsOf(code: ErrorCode | (string & {}), pick: Picker): AnyErrorFields {
  const fields: Record<string, unknown> = {};
  switch (code) {
    case 'invalid_request':
      fields.invalid = pick('invalid', isTextList)?.slice(0, maxInvalidEntries);
      break;
    case 'insufficient_credits':
      fields.balance = pick('balance', isNumber);
      fields.required = pick('required', isNumber);
      break;
    case 'invalid_code':
      fields.attempts_remaining = pick('attempts_remaining', isNumber);
      break;
    case 'provider_failed':
      fields.id = pick('id', isText);
      break;
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string');
