import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, MiddlewareHandler } from 'hono';
import type { Caller } from '../operations/operations.js';
import type { JsonObject } from './body/strict-json.js';

/** An answer before it is put on the wire. */
export interface PlainAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** What one request carries through its middleware. */
export interface HttpEnv {
  Bindings: {
    /** Node's own request and response, when the request came over a socket. */
    socket?: { incoming: IncomingMessage; outgoing: ServerResponse };
    /** Then the answer is left here, for the listener to write. */
    answer?: PlainAnswer;
  };
  Variables: {
    requestId: string;
    /** What `X-RateLimit-Limit` and `X-RateLimit-Remaining` will say. */
    allowance: { limit: number; remaining: number };
    caller: Caller;
    body: JsonObject;
    idempotencyKey: string | null;
  };
}

export type HttpContext = Context<HttpEnv>;
export type Middleware = MiddlewareHandler<HttpEnv>;
export type Handler = (context: HttpContext) => Promise<Response>;
