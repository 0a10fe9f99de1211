import type { SeenRequest } from '../service.js';
import type { ApiRequest, RequestHandler, RequestNotes } from './call.js';

/** Observes every answered request; `status` is null if its connection was dropped. */
export function observedHandler(
  next: RequestHandler,
  clientOf: (request: ApiRequest) => string | null,
  observe: (seen: SeenRequest) => void,
): RequestHandler {
  return async (request) => {
    const notes: RequestNotes = { requestId: null, route: null, keyPrefix: null, code: null };
    const { method } = request;
    const start = performance.now();
    // A closed connection has no address.
    const client = clientOf(request);
    let status: number | null = null;
    try {
      const answer = await next(request, notes);
      status = answer.status;
      return answer;
    } finally {
      const { requestId, route, keyPrefix, code } = notes;
      const ms = performance.now() - start;
      observe({ request_id: requestId, method, route, status, ms, key: keyPrefix, code, client });
    }
  };
}
