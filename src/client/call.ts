import { type CallSettings, readCallOptions, readSendOptions } from './call-options.js';
import type { SendEndpoint } from './send-endpoints.js';
import type { Proof } from './transport/proof.js';
import type { CallKind } from './transport/retry.js';

/** One call of a method, built once: every attempt sends the same bytes. */
export interface Call {
  kind: CallKind;
  /** Appended to the base URL; starts with a slash. */
  path: string;
  /** JSON; null for a read. */
  body: string | null;
  /** Null when the caller gave none. */
  idempotencyKey: string | null;
  /** It belongs to a list. */
  isBulk?: boolean;
  proof: Proof;
  settings: CallSettings;
  extension?: Extension;
  /** Milliseconds that the service may wait on purpose, beside the timeout. */
  serviceWaits?: number;
  /** Shared by requests that make up one call to the caller, such as the polls of a wait. */
  progress?: Progress;
}

/** An endpoint that a service may lack. */
export interface Extension {
  /** Completes "this service does not offer ...". */
  name: string;
  /** Statuses that mean that the service lacks it; without them, those of `not_found` and `method_not_allowed`. */
  statuses?: readonly number[];
}

/** The attempts of a call so far. */
export interface Progress {
  attempts: number;
  requestSent: boolean;
  inDoubt: boolean;
  /** Of the last answer; null if there was none. */
  requestId: string | null;
}

export const newProgress = (): Progress => ({
  attempts: 0,
  requestSent: false,
  inDoubt: false,
  requestId: null,
});

export function readCall(path: string, proof: Proof, options: unknown): Call {
  return { kind: 'read', path, body: null, idempotencyKey: null, proof, settings: readCallOptions(options) };
}

/** A read with a body, which is as safe to repeat. */
export function checkCall(path: string, params: object, proof: Proof, options: unknown): Call {
  return { ...readCall(path, proof, options), body: bodyOf(params) };
}

export function sendCall(endpoint: SendEndpoint, params: object, options: unknown): Call {
  return frozenSendCall(endpoint, bodyOf(params), options);
}

/** A send with a body that already is JSON. */
export function frozenSendCall({ path, proof }: SendEndpoint, body: string, options: unknown): Call {
  const settings = readSendOptions(options);
  return { kind: 'send', path, body, idempotencyKey: settings.idempotencyKey, proof, settings };
}

export function verifyCall(path: string, params: object, proof: Proof, options: unknown): Call {
  const settings = readCallOptions(options);
  return { kind: 'verify', path, body: bodyOf(params), idempotencyKey: null, proof, settings };
}

function bodyOf(params: unknown): string {
  if (typeof params !== 'object' || params === null) throw new TypeError('Parameters must be an object');
  return JSON.stringify(params);
}
