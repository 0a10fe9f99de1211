import type { SeenRequest } from '../service.js';
import type { App } from './app.js';
import type { RequestNotes } from './context.js';

/** The same app, which tells of every request it has answered; `status` is null for one whose connection was dropped. */
export function observedApp(app: App, observe: (seen: SeenRequest) => void): App {
  return {
    routes: app.routes,
    async fetch(request, bindings = {}) {
      const notes: RequestNotes = { requestId: null, route: null, keyPrefix: null, code: null };
      const start = performance.now();
      let status: number | null = null;
      try {
        const response = await app.fetch(request, { ...bindings, notes });
        status = bindings.plain?.answer?.status ?? response.status;
        return response;
      } finally {
        const { requestId, route, keyPrefix, code } = notes;
        const ms = performance.now() - start;
        observe({ request_id: requestId, method: request.method, route, status, ms, key: keyPrefix, code });
      }
    },
  };
}
