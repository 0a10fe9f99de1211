import { defaultBaseUrl, isIdempotencyKey, isLoopback } from '../contract/index.js';
import type { ConnectionOptions } from './runtime.js';

/** Options of the client (Official Node.js client, Client options). */
export interface UrtuuOptions {
  /** Milliseconds one attempt may take, reading the answer included; 30,000 when absent. */
  timeout?: number;
  /** How many times a failed request is retried where that cannot duplicate a message; 2 when absent, 0 is off. */
  maxRetries?: number;
  /** Where requests go, version included: `http://127.0.0.1:7788/v1` when absent. */
  baseUrl?: string;
  /** Takes the place of the global fetch. */
  fetch?: FetchLike;
  /** Lets requests go over plain http, key and texts included, to another machine than this one. */
  allowHttp?: boolean;
}

/** Second argument of the four sends. */
export interface SendOptions {
  /**
   * 1 to 255 printable ASCII characters, unique in the project. A repeat with the same key sends nothing new
   * and returns the original result. The client makes a key for each call when there is none (Idempotency).
   */
  idempotencyKey?: string;
}

/**
 * What the client asks of a fetch function; the global one fits. It makes one request a call and repeats none.
 * Where it knows that nothing of the request left, it may set `requestSent: false` on the error it rejects with, or,
 * when its signal aborts, on the signal's reason; where it knows that some of it left, `requestSent: true`.
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

/** A web stream, or anything else that gives bytes, a Node.js stream for example. */
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

/** The key that was given, or else that of the environment. Errors here never repeat what was given. */
export function readApiKey(given: unknown): string {
  const key = given === undefined ? globalThis.process?.env.URTUU_API_KEY : given;
  if (key === undefined || (given === undefined && key === '')) {
    throw new TypeError('No API key: pass it as the first argument or set URTUU_API_KEY');
  }
  if (typeof key !== 'string') throw new TypeError('The API key must be a string');
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new TypeError(
      'The API key is empty or has characters that no key has, such as spaces or line ends',
    );
  }
  return key;
}

export function readOptions(given: unknown): Settings {
  const names = ['timeout', 'maxRetries', 'baseUrl', 'fetch', 'allowHttp'] as const;
  const options = readRecord(given, names);
  const { timeout = 30_000, maxRetries = 2, baseUrl = defaultBaseUrl, fetch, allowHttp = false } = options;
  if (typeof allowHttp !== 'boolean') throw new TypeError('allowHttp must be true or false');
  return {
    timeout: readNumber(timeout, (value) => value > 0, 'timeout must be milliseconds, over 0'),
    maxRetries: readNumber(
      maxRetries,
      (value) => Number.isInteger(value) && value >= 0,
      'maxRetries must be a whole number, 0 or more',
    ),
    baseUrl: readBaseUrl(baseUrl, allowHttp),
    fetch: readFetch(fetch),
  };
}

/** The caller's key, or null when the client is to make one. */
export function readIdempotencyKey(given: unknown): string | null {
  if (given === undefined) return null;
  const { idempotencyKey: key } = readRecord(given, ['idempotencyKey']);
  if (key === undefined) return null;
  if (typeof key !== 'string') throw new TypeError('idempotencyKey must be a string');
  // Spaces at either end are lost on the wire, which would make it another key.
  if (!isIdempotencyKey(key) || key.trim() !== key) {
    throw new RangeError(
      'idempotencyKey must be 1 to 255 printable ASCII characters, no space at either end',
    );
  }
  return key;
}

/** A misspelt option would be an ignored one: a send without its key, say, that goes out twice. */
export function readRecord<Name extends string>(
  given: unknown,
  names: readonly Name[],
): Partial<Record<Name, unknown>> {
  if (typeof given !== 'object' || given === null) throw new TypeError('Options must be an object');
  if (Object.keys(given).some((name) => !(names as readonly string[]).includes(name))) {
    throw new TypeError(`Unknown option; there is ${names.join(', ')}`);
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
      'baseUrl must be https: over plain http the key and the texts travel in the open. allowHttp: true allows it',
    );
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function readFetch(value: unknown): FetchLike {
  // Looked up at each call: whoever replaces the global fetch later, a proxy or a tracer, is heard.
  if (value === undefined) return (url, init) => globalThis.fetch(url, init);
  if (typeof value !== 'function') throw new TypeError('fetch must be a function');
  return value as FetchLike;
}
