import type { SeenRequest } from '../service.js';
import type { RequestHandler, RequestNotes } from './call.js';

/** Observes every answered request; `status` is null if its connection was dropped. */
export function observedHandler(next: RequestHandler, observe: (seen: SeenRequest) => void): RequestHandler {
  return async (request) => {
    const notes: RequestNotes = { requestId: null, route: null, keyPrefix: null, code: null };
    const start = performance.now();
    let status: number | null = null;
    try {
      const answer = await next(request, notes);
      status = answer.status;
      return answer;
    } finally {
      const { requestId, route, keyPrefix, code } = notes;
      const ms = performance.now() - start;
      observe({ request_id: requestId, method: request.method, route, status, ms, key: keyPrefix, code });
    }
  };
}
