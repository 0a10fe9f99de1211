import type { Context, MiddlewareHandler } from 'hono';
import type { Caller } from '../operations/operations.js';
import type { PlainAnswer } from '../service.js';
import type { JsonObject } from './body/strict-json.js';

/** How a request without web objects reaches the app: Node.js loads those slowly, and they cost much each time. */
export interface PlainExchange {
  /** Rejects with `request_too_large`, or `invalid_request` when the body breaks off. */
  readBody(): Promise<Uint8Array>;
  /** The request's target as it was sent. */
  target?: string | undefined;
  /** How often a header stands in the request, by its name in lower case. */
  countOf?(name: string): number;
  /** What the app returns in place of a Response. */
  placeholder: Response;
  /** Left here by the app. */
  answer?: WrittenAnswer;
}

/** An answer as it goes over the wire; what never changes is written as bytes once. */
export type WrittenAnswer = Omit<PlainAnswer, 'body'> & { body: string | Buffer<ArrayBuffer> };

/** What one request carries through its middleware. */
export interface HttpEnv {
  Bindings: {
    /** Absent for a web Request, which is answered by a Response. */
    plain?: PlainExchange;
  };
  Variables: {
    requestId: string;
    /** What `X-RateLimit-Limit` and `X-RateLimit-Remaining` will say. */
    rateLimit: { limit: number; remaining: number };
    caller: Caller;
    body: JsonObject;
    idempotencyKey: string | null;
  };
}

export type HttpContext = Context<HttpEnv>;
export type Middleware = MiddlewareHandler<HttpEnv>;
export type Handler = (context: HttpContext) => Promise<Response>;
