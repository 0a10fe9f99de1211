import { baseUrlFrom, defaultBaseUrl, isLoopback, parseUrl, readRecord } from '../contract/index.js';
import { readMaxRetries, readTimeout } from './arguments.js';
import type { FetchLike } from './transport/fetch.js';
import type { ResponseHook } from './transport/response-hook.js';
import { type AppInfo, userAgentOf } from './transport/user-agent.js';

/** Options of the client (Client options). An undefined option has its default. */
export interface UrtuuOptions {
  /** Milliseconds per attempt, including the time to read the answer. Default 30,000. */
  timeout?: number | undefined;
  /**
   * Maximum retries of a failed request. Only retries that cannot duplicate a message are made. Default 2; 0 disables
   * retries.
   */
  maxRetries?: number | undefined;
  /** Base URL, including the version. Default `http://127.0.0.1:7788/v1`. */
  baseUrl?: string | undefined;
  /** The function that makes the requests. Default: the global fetch. */
  fetch?: FetchLike | undefined;
  /** Allow plain http to other machines, which exposes the key and the texts. Default false. */
  allowHttp?: boolean | undefined;
  /** Names the program in the User-Agent header, after `urtuu` and its version. */
  appInfo?: AppInfo | undefined;
  /** Called for every HTTP answer, for logs and metrics. */
  onResponse?: ResponseHook | undefined;
}

/** @internal */
export interface Settings {
  timeout: number;
  maxRetries: number;
  /** Without a trailing slash. */
  baseUrl: string;
  fetch: FetchLike;
  userAgent: string;
  onResponse: ResponseHook | null;
}

/**
 * The given key, or that of the environment. Errors never repeat it.
 * @internal
 */
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

const optionNames = [
  'timeout',
  'maxRetries',
  'baseUrl',
  'fetch',
  'allowHttp',
  'appInfo',
  'onResponse',
] as const satisfies readonly (keyof UrtuuOptions)[];

/** @internal */
export function readOptions(given: unknown): Settings {
  const options = readRecord(given, optionNames);
  const { timeout = 30_000, maxRetries = 2, baseUrl = defaultBaseUrl, allowHttp = false } = options;
  if (typeof allowHttp !== 'boolean') throw new TypeError('allowHttp must be true or false');
  return {
    timeout: readTimeout(timeout),
    maxRetries: readMaxRetries(maxRetries),
    baseUrl: readBaseUrl(baseUrl, allowHttp),
    fetch: readFetch(options.fetch),
    userAgent: userAgentOf(options.appInfo),
    onResponse: readHook(options.onResponse),
  };
}

function readBaseUrl(value: unknown, allowHttp: boolean): string {
  if (typeof value !== 'string') throw new TypeError('baseUrl must be a string');
  const url = parseUrl(value);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new RangeError('baseUrl must be an http(s) URL');
  if (url.username || url.password || url.search || url.hash) {
    throw new RangeError('baseUrl must have no user, password, query or fragment');
  }
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    throw new RangeError(
      'baseUrl must use https: plain http exposes the key and the texts. Set allowHttp: true to allow it',
    );
  }
  return baseUrlFrom(url);
}

function readFetch(value: unknown): FetchLike {
  if (value === undefined) return globalFetch;
  if (typeof value !== 'function') throw new TypeError('fetch must be a function');
  return value as FetchLike;
}

/** Looked up for each call, so that proxies and tracers can replace the global fetch later. */
const globalFetch: FetchLike = (url, init) => {
  // jsdom has none.
  if (typeof globalThis.fetch === 'function') return globalThis.fetch(url, init);
  throw Object.assign(new TypeError('fetch is not a function'), { code: 'NO_FETCH', requestSent: false });
};

function readHook(value: unknown): ResponseHook | null {
  if (value === undefined) return null;
  if (typeof value !== 'function') throw new TypeError('onResponse must be a function');
  return value as ResponseHook;
}
