import type { App } from './app.js';

const path = '/metrics';

/** The app with `GET /metrics` before it; without one, nothing else is there. */
export function metricsApp(write: () => Promise<string>, app: App | null): App {
  return {
    routes: app?.routes ?? [],
    async fetch(request, bindings = {}) {
      const { plain } = bindings;
      const isHere = plain?.target === path || new URL(request.url).pathname === path;
      if (app !== null && !isHere) return app.fetch(request, bindings);
      const isRead = isHere && (request.method === 'GET' || request.method === 'HEAD');
      const answer = isRead
        ? {
            status: 200,
            headers: { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' },
            body: await write(),
          }
        : { status: isHere ? 405 : 404, headers: { 'Content-Type': 'text/plain' }, body: '' };
      if (plain === undefined) return new Response(answer.body, answer);
      plain.answer = answer;
      return plain.placeholder;
    },
  };
}
