import type { AdmittedRequest, Caller } from '../operations/operations.js';
import type { PlainAnswer } from '../service.js';

/** A request from a socket or from this process. It has no web objects, which are slow to load and create. */
export interface ApiRequest {
  method: string;
  /** Path or URL, as sent. */
  target: string;
  /** Absolute. */
  url: string;
  headers: { get(name: string): string | null };
  /** Occurrences of a header, by its name in lower case; absent if no header can be repeated. */
  countOf?(name: string): number;
  /** The address that the connection comes from; absent without a connection. */
  peer?(): string | undefined;
  /** Calls `run` when the client ends its side, until the returned function is called; absent without a connection. */
  whenEnded?(run: () => void): () => void;
  /** Rejects with `request_too_large`, or `invalid_request` if the body ends early. `limit`: in bytes. */
  readBody(limit: number): Promise<Uint8Array>;
}

/** An answer as it is written to the wire; bytes if it never changes. */
export type WrittenAnswer = Omit<PlainAnswer, 'body'> & { body: string | Buffer<ArrayBuffer> };

/** What the app tells its observer about a request. */
export interface RequestNotes {
  requestId: string | null;
  /** Null if no route matches. */
  route: string | null;
  /** The first characters of a valid key. */
  keyPrefix: string | null;
  /** Of the error that answered it. */
  code: string | null;
}

/**
 * Answers the requests of a listener. The notes are absent if nothing observes them; only the dashboard returns
 * Responses.
 */
export type RequestHandler = (request: ApiRequest, notes?: RequestNotes) => Promise<WrittenAnswer | Response>;

/** A request on its way through the app. */
export interface Call {
  request: ApiRequest;
  notes: RequestNotes | undefined;
  requestId: string;
  /** For `X-RateLimit-Limit` and `X-RateLimit-Remaining`; unused until the project is known. */
  rateLimit: { limit: number; remaining: number };
}

/** A call with a valid key. */
export interface AdmittedCall extends Call {
  caller: Caller;
  /** The scope of its key. */
  scope: AdmittedRequest['scope'];
  replay: AdmittedRequest['replay'];
}

/** Answers a call; `id` is the text in the place of `:id`, unchecked. */
export type Route<Each extends Call = AdmittedCall> = (call: Each, id: string) => Promise<WrittenAnswer>;
