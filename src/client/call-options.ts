import { isIdempotencyKey, readRecord } from '../contract/index.js';
import { readMaxRetries, readTimeout } from './arguments.js';

/** Options of one call: the last argument of every method. */
export interface CallOptions {
  /**
   * Aborts the call, which rejects with `connection_error` and is not retried; its `cause` is the signal's reason. An
   * aborted send may have been sent: see `inDoubt` of the error.
   */
  signal?: AbortSignal | undefined;
  /** Milliseconds per attempt, including the time to read the answer. Default: the client's `timeout`. */
  timeout?: number | undefined;
  /**
   * Maximum retries of a failed request. Only retries that cannot duplicate a message are made. Default: the client's
   * `maxRetries`.
   */
  maxRetries?: number | undefined;
}

/** Options of one send. */
export interface SendOptions extends CallOptions {
  /**
   * 1 to 255 printable ASCII characters, no space at either end, unique in the project. A repeat with the same key
   * sends nothing new and returns the original result. By default the client generates a key for each call
   * (Limits, Idempotency).
   */
  idempotencyKey?: string | undefined;
}

/** Options of `batches.wait`. */
export interface WaitOptions extends CallOptions {
  /** Milliseconds for the whole wait; each poll keeps the client's `timeout`. Default 600,000. */
  timeout?: number | undefined;
}

/** @internal */
export interface CallSettings {
  signal: AbortSignal | null;
  /** Null for the client's. */
  timeout: number | null;
  /** Null for the client's. */
  maxRetries: number | null;
}

const callOptionNames = ['signal', 'timeout', 'maxRetries'] as const;
const sendOptionNames = ['idempotencyKey', ...callOptionNames] as const;
const clientsOwn: CallSettings = { signal: null, timeout: null, maxRetries: null };

/** @internal */
export function readCallOptions(given: unknown): CallSettings {
  return given === undefined ? clientsOwn : callSettingsOf(readRecord(given, callOptionNames));
}

/** @internal */
export interface SendSettings extends CallSettings {
  /** Null to have the client generate one. */
  idempotencyKey: string | null;
}

const generatedKey: SendSettings = { ...clientsOwn, idempotencyKey: null };

/** @internal */
export function readSendOptions(given: unknown): SendSettings {
  if (given === undefined) return generatedKey;
  const record = readRecord(given, sendOptionNames);
  return { ...callSettingsOf(record), idempotencyKey: readIdempotencyKey(record.idempotencyKey) };
}

function callSettingsOf(record: { [Name in keyof CallOptions]?: unknown }): CallSettings {
  const { signal, timeout, maxRetries } = record;
  return {
    signal: signal === undefined ? null : readSignal(signal),
    timeout: timeout === undefined ? null : readTimeout(timeout),
    maxRetries: maxRetries === undefined ? null : readMaxRetries(maxRetries),
  };
}

/** Checks the shape: signals of polyfills and other realms are not instances. */
function readSignal(value: unknown): AbortSignal {
  const { aborted, addEventListener, removeEventListener } = (value ?? {}) as Partial<AbortSignal>;
  const listens = [addEventListener, removeEventListener].every((each) => typeof each === 'function');
  if (typeof aborted !== 'boolean' || !listens) {
    throw new TypeError('signal must be an AbortSignal');
  }
  return value as AbortSignal;
}

function readIdempotencyKey(key: unknown): string | null {
  if (key === undefined) return null;
  if (typeof key !== 'string') throw new TypeError('idempotencyKey must be a string');
  // HTTP strips spaces at either end, which would change the key.
  if (!isIdempotencyKey(key) || key.trim() !== key) {
    throw new RangeError(
      'idempotencyKey must be 1 to 255 printable ASCII characters, no space at either end',
    );
  }
  return key;
}
