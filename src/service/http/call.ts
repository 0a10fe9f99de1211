import type { AdmittedRequest, Caller } from '../operations/operations.js';
import type { PlainAnswer } from '../service.js';

/** A request of either door. There are no web objects in it, which are slow to load and to make. */
export interface ApiRequest {
  method: string;
  /** Path or URL, as sent. */
  target: string;
  /** Absolute. */
  url: string;
  headers: { get(name: string): string | null };
  /** Occurrences of a header, by its name in lower case; absent where none can appear twice. */
  countOf?(name: string): number;
  /** Rejects with `request_too_large`, or `invalid_request` when the body ends early. */
  readBody(): Promise<Uint8Array>;
}

/** An answer as it goes over the wire; bytes for one that never changes. */
export type WrittenAnswer = Omit<PlainAnswer, 'body'> & { body: string | Buffer<ArrayBuffer> };

/** What the app says of a request to its observer. */
export interface RequestNotes {
  requestId: string | null;
  /** Null where no route matches. */
  route: string | null;
  /** The first characters of a valid key. */
  keyPrefix: string | null;
  /** Of the error that answered it. */
  code: string | null;
}

/** Answers the requests of a listener. The notes are absent where nobody observes; only the dashboard has Responses. */
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
  replay: AdmittedRequest['replay'];
}

/** The route of a call; `id` is the text in the place of `:id`, of any form. */
export type Route<Each extends Call = AdmittedCall> = (call: Each, id: string) => Promise<WrittenAnswer>;
