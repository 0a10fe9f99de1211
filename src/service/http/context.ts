import type { Context, MiddlewareHandler } from 'hono';
import type { AdmittedRequest, Caller } from '../operations/operations.js';
import type { PlainAnswer } from '../service.js';
import type { JsonObject } from './body/strict-json.js';

/** A request without web objects, which are slow to load and to make. */
export interface PlainExchange {
  /** Rejects with `request_too_large`, or `invalid_request` when the body ends early. */
  readBody(): Promise<Uint8Array>;
  /** The target of the request as sent. */
  target?: string | undefined;
  /** Occurrences of a header, by its name in lower case. */
  countOf?(name: string): number;
  /** The app returns this in place of a Response. */
  placeholder: Response;
  /** Set by the app. */
  answer?: WrittenAnswer;
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

/** The state of a request in its middleware. */
export interface HttpEnv {
  Bindings: {
    /** Absent for a web Request, which is answered by a Response. */
    plain?: PlainExchange;
    /** Absent where nobody observes. */
    notes?: RequestNotes;
  };
  Variables: {
    requestId: string;
    /** For `X-RateLimit-Limit` and `X-RateLimit-Remaining`. */
    rateLimit: { limit: number; remaining: number };
    caller: Caller;
    replay: AdmittedRequest['replay'];
    body: JsonObject;
    idempotencyKey: string | null;
  };
}

export type HttpContext = Context<HttpEnv>;
export type Middleware = MiddlewareHandler<HttpEnv>;
export type Handler = (context: HttpContext) => Promise<Response>;
