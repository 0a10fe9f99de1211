import { clientErrors, type ErrorCode, maxInvalidEntries, serviceErrors } from '../contract/index.js';
import type { AnyErrorFields, UrtuuErrorParts } from './error.js';
import type { JsonObject, Proof } from './proof.js';
import { readRetryAfter } from './retry.js';
import type { Redactor } from './secret.js';

/** An answer as it arrived. */
export interface Answer {
  status: number;
  /** Null when there was none to read, or more than the client reads. */
  body: Uint8Array | null;
  /** A header, by its name in any case; null when there is none. Never throws. */
  header(name: string): string | null;
}

/** What an answer says of a failure. */
export type AnsweredFailure = Pick<
  UrtuuErrorParts,
  'code' | 'message' | 'status' | 'retryAfter' | 'fields' | 'requestId'
>;

export type Outcome = { ok: true; result: object } | { ok: false; parts: AnsweredFailure };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Any 2xx but 204, which says nothing. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300 && status !== 204;
}

/** What an answer means: a success that proves itself is a result, everything else an error. */
export function readAnswer(answer: Answer, proof: Proof, redactor: Redactor, now: number): Outcome {
  const { status, body } = answer;
  const record = parseObject(body, redactor);
  let missing: string | null = null;
  if (record !== null && isSuccess(status)) {
    missing = proof(record, () => answer.header('idempotency-replayed') === 'true');
    if (missing === null) return { ok: true, result: record };
  }
  const requestId = answer.header('x-request-id');
  const parts = {
    status,
    retryAfter: readRetryAfter(answer.header('retry-after'), now),
    requestId: requestId === null ? null : redactor.text(requestId),
  };
  const error = record === null || isSuccess(status) ? null : readError(record, status);
  return { ok: false, parts: { ...parts, ...(error ?? unexpected(status, missing)) } };
}

type ErrorWords = Pick<UrtuuErrorParts, 'code' | 'message' | 'fields'>;

function unexpected(status: number, missing: string | null): ErrorWords {
  const detail = missing === null ? '' : ` (${missing} is missing or malformed)`;
  const message = `HTTP ${status}: ${clientErrors.unexpected_response.meaning}${detail}`;
  return { code: 'unexpected_response', message };
}

function parseObject(body: Uint8Array | null, redactor: Redactor): JsonObject | null {
  if (body === null) return null;
  try {
    const value = redactor.json(utf8.decode(body));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The service's error in `error` or at the top level; null when there is no code. */
function readError(body: JsonObject, status: number): ErrorWords | null {
  const places = isObject(body.error) ? [body.error, body] : [body];
  const pick: Picker = (name, isValid) => places.map((place) => place[name]).find(isValid);
  const code = pick('code', isText);
  if (code === undefined) return null;
  const message = pick('message', isText) ?? meaningOf(code) ?? `HTTP ${status}`;
  return { code, message, fields: fieldsOf(code, pick) };
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
