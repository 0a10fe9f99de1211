import type { ConnectionOptions } from './runtime.js';

/**
 * A fetch function, for example the global one. It makes one request per call, without retries. On the error it
 * rejects with, or on the reason of its aborted signal, it may set `requestSent`: false if certainly nothing of the
 * request left, true if certainly some of it did.
 * @param url absolute, http or https
 * @param init the request; new for each attempt
 */
export type FetchLike = (url: string, init: FetchRequest) => Promise<FetchResponse>;

/** The request of one attempt. */
export interface FetchRequest extends ConnectionOptions {
  /** Sends and verifications are POST, reads are GET. */
  method: 'GET' | 'POST';
  /** The API key is in `Authorization`. */
  headers: Record<string, string>;
  /** JSON; absent for GET. */
  body?: string;
  /** Redirects are never followed. */
  redirect: 'manual';
  /** Aborts when the attempt times out or its call is aborted. */
  signal: AbortSignal;
}

/** The answer of a fetch; a global `Response` is one. */
export interface FetchResponse {
  /** HTTP status. */
  readonly status: number;
  /** Headers by name, case-insensitive. */
  readonly headers: {
    /**
     * The value of a header; null when absent.
     * @param name case-insensitive
     */
    get(name: string): string | null;
  };
  /** Null without a body. At most 10 MiB are read. */
  readonly body: FetchBody | null;
}

/** A web stream, or an iterable of bytes such as a Node.js stream. */
export type FetchBody = FetchBodyStream | AsyncIterable<Uint8Array>;

/** The part of a `ReadableStream` that the client uses. */
export interface FetchBodyStream {
  /** Locks the stream to one reader. */
  getReader(): FetchBodyReader;
}

/** A piece of a body. */
export interface FetchChunk {
  /** True once the body has ended; then there is no value. */
  done: boolean;
  /** The next bytes. */
  value?: Uint8Array | undefined;
}

/** The part of a `ReadableStreamDefaultReader` that the client uses. */
export interface FetchBodyReader {
  /** Reads the next piece. */
  read(): Promise<FetchChunk>;
  /** Frees the connection. */
  cancel(): Promise<void>;
}
