import { TextDecoder } from 'node:util';
import {
  clientErrors,
  type ErrorCode,
  isRedirect,
  maxInvalidEntries,
  parseUrl,
  serviceErrors,
} from '../../contract/index.js';
import type { AnyErrorFields, UrtuuErrorParts } from '../error.js';
import { isNumber, isObject, isText, type JsonObject } from '../json.js';
import type { Redactor } from '../secret.js';
import type { Proof } from './proof.js';
import { readRetryAfter } from './retry.js';

/** An HTTP response, its body read. */
export interface Answer {
  status: number;
  /** Null when there is none, or when it is too long. */
  body: Uint8Array | null;
  /** Case-insensitive; null when absent. Never throws. */
  header(name: string): string | null;
}

/** The parts of an error that come from an answer. */
export type AnsweredFailure = Pick<
  UrtuuErrorParts,
  'code' | 'message' | 'status' | 'retryAfter' | 'fields' | 'requestId'
>;

export type Outcome = { ok: true; result: object } | { ok: false; parts: AnsweredFailure };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Any 2xx except 204, which has no body. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300 && status !== 204;
}

interface Reading {
  proof: Proof;
  redactor: Redactor;
  /** Of the request, for a redirect. */
  baseUrl: string;
  now: number;
}

/** The result if the answer proves success, else the parts of an error. */
export function readAnswer(answer: Answer, { proof, redactor, baseUrl, now }: Reading): Outcome {
  const { status, body } = answer;
  const record = parseObject(body, redactor);
  let missing: string | null = null;
  if (record !== null && isSuccess(status)) {
    missing = proof(record, () => answer.header('idempotency-replayed') === 'true');
    if (missing === null) return { ok: true, result: record };
  }
  const parts = {
    status,
    retryAfter: readRetryAfter(answer.header('retry-after'), now),
    requestId: requestIdOf(answer, redactor),
  };
  const error = record === null || isSuccess(status) ? null : readError(record, status);
  const redirect = isRedirect(status) ? originOf(answer.header('location'), baseUrl) : null;
  const other = redirect === null ? unexpected(status, missing) : redirected(status, redactor.text(redirect));
  return { ok: false, parts: { ...parts, ...(error ?? other) } };
}

/** X-Request-Id; null without one. */
export function requestIdOf(answer: Answer, redactor: Redactor): string | null {
  const id = answer.header('x-request-id');
  return id === null ? null : redactor.text(id);
}

type ErrorContent = Pick<UrtuuErrorParts, 'code' | 'message' | 'fields'>;

function unexpected(status: number, missing: string | null): ErrorContent {
  const detail = missing === null ? '' : ` (${missing} is missing or malformed)`;
  const message = `HTTP ${status}: ${clientErrors.unexpected_response.meaning}${detail}`;
  return { code: 'unexpected_response', message };
}

/** The origin of a redirect's target; its path may contain secrets. */
function originOf(location: string | null, base: string): string | null {
  const url = location === null ? null : parseUrl(location, base);
  return url !== null && /^https?:$/.test(url.protocol) ? url.origin : null;
}

function redirected(status: number, origin: string): ErrorContent {
  const message = `HTTP ${status}: redirected to ${origin} (a proxy, or a wrong base URL)`;
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

/** Reads `error`, or the top level; null without a code. */
function readError(body: JsonObject, status: number): ErrorContent | null {
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

/** The fields of a code, without those that are missing or of the wrong type. */
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
    case 'recipient_suppressed':
      fields.reason = pick('reason', isText);
      break;
    case 'provider_failed':
      fields.id = pick('id', isText);
      break;
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string');
