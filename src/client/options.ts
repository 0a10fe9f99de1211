import { defaultBaseUrl, isIdempotencyKey, isLoopback } from '../contract/index.js';
import type { ConnectionOptions } from './runtime.js';

/** Options of the client (Client options). */
export interface UrtuuOptions {
  /** Milliseconds per attempt, reading the answer included. Default 30,000. */
  timeout?: number;
  /** Retries of a failed request, where a retry cannot duplicate a message. Default 2; 0 turns them off. */
  maxRetries?: number;
  /** Base URL, version included. Default `http://127.0.0.1:7788/v1`. */
  baseUrl?: string;
  /** Replaces the global fetch. */
  fetch?: FetchLike;
  /** Allow plain http to other machines, which exposes the key and the texts. Default false. */
  allowHttp?: boolean;
}

/** Options of one send. */
export interface SendOptions {
  /**
   * 1 to 255 printable ASCII characters, unique in the project. A repeat with the same key sends nothing new
   * and returns the original result. By default the client generates a key for each call (Idempotency).
   */
  idempotencyKey?: string;
}

/**
 * A fetch function, for example the global one. It makes one request per call and repeats none. On the error it
 * rejects with, or on the reason of its aborted signal, it may set `requestSent`: false when certainly nothing of
 * the request left, true when certainly some of it did.
 */
export type FetchLike = (url: string, init: FetchRequest) => Promise<FetchResponse>;

export interface FetchRequest extends ConnectionOptions {
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  /** Redirects are never followed. */
  redirect: 'manual';
  /** Aborts when the attempt runs out of time. */
  signal: AbortSignal;
}

export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: FetchBody | null;
}

/** A web stream, or an iterable of bytes such as a Node.js stream. */
export type FetchBody = { getReader(): FetchBodyReader } | AsyncIterable<Uint8Array>;

export interface FetchBodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

export interface Settings {
  timeout: number;
  maxRetries: number;
  /** Without a slash at its end. */
  baseUrl: string;
  fetch: FetchLike;
}

/** The given key, or that of the environment. Errors never repeat it. */
export function readApiKey(given: unknown): string {
  const key = given === undefined ? globalThis.process?.env.URTUU_API_KEY : given;
  if (key === undefined || (given === undefined && key === '')) {
    throw new TypeError('No API key: pass it as the first argument or set URTUU_API_KEY');
  }
  if (typeof key !== 'string') throw new TypeError('The API key must be a string');
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new TypeError('The API key is empty or has invalid characters, such as spaces or line breaks');
  }
  return key;
}

export function readOptions(given: unknown): Settings {
  const names = ['timeout', 'maxRetries', 'baseUrl', 'fetch', 'allowHttp'] as const;
  const options = readRecord(given, names);
  const { timeout = 30_000, maxRetries = 2, baseUrl = defaultBaseUrl, fetch, allowHttp = false } = options;
  if (typeof allowHttp !== 'boolean') throw new TypeError('allowHttp must be true or false');
  return {
    timeout: readNumber(timeout, (value) => value > 0, 'timeout must be a number of milliseconds over 0'),
    maxRetries: readNumber(
      maxRetries,
      (value) => Number.isInteger(value) && value >= 0,
      'maxRetries must be a whole number, 0 or more',
    ),
    baseUrl: readBaseUrl(baseUrl, allowHttp),
    fetch: readFetch(fetch),
  };
}

/** Null when the client is to generate one. */
export function readIdempotencyKey(given: unknown): string | null {
  if (given === undefined) return null;
  const { idempotencyKey: key } = readRecord(given, ['idempotencyKey']);
  if (key === undefined) return null;
  if (typeof key !== 'string') throw new TypeError('idempotencyKey must be a string');
  // HTTP strips spaces at either end, which would make it another key.
  if (!isIdempotencyKey(key) || key.trim() !== key) {
    throw new RangeError(
      'idempotencyKey must be 1 to 255 printable ASCII characters, no space at either end',
    );
  }
  return key;
}

/** Refuses unknown options: a misspelt `idempotencyKey`, ignored, could send twice. */
export function readRecord<Name extends string>(
  given: unknown,
  names: readonly Name[],
): Partial<Record<Name, unknown>> {
  if (typeof given !== 'object' || given === null) throw new TypeError('Options must be an object');
  if (Object.keys(given).some((name) => !(names as readonly string[]).includes(name))) {
    throw new TypeError(`Unknown option; valid options: ${names.join(', ')}`);
  }
  return given;
}

function readNumber(value: unknown, isValid: (value: number) => boolean, rule: string): number {
  if (typeof value !== 'number') throw new TypeError(rule);
  if (!Number.isFinite(value) || !isValid(value)) throw new RangeError(rule);
  return value;
}

function readBaseUrl(value: unknown, allowHttp: boolean): string {
  if (typeof value !== 'string') throw new TypeError('baseUrl must be a string');
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw new RangeError('baseUrl must be an http(s) URL');
  if (url.username || url.password || url.search || url.hash) {
    throw new RangeError('baseUrl must have no user, password, query or fragment');
  }
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    throw new RangeError(
      'baseUrl must use https: plain http exposes the key and the texts. Set allowHttp: true to allow it',
    );
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function readFetch(value: unknown): FetchLike {
  // Looked up at each call, for proxies and tracers that replace the global fetch later.
  if (value === undefined) return (url, init) => globalThis.fetch(url, init);
  if (typeof value !== 'function') throw new TypeError('fetch must be a function');
  return value as FetchLike;
}
