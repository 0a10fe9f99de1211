import type { RequestHandler } from './call.js';

/** Answers `GET /metrics`. `next` answers everything else; without it, everything else is not found. */
export function metricsHandler(write: () => Promise<string>, next: RequestHandler | null): RequestHandler {
  return async (request, notes) => {
    const isHere = new URL(request.url).pathname === '/metrics';
    if (next !== null && !isHere) return next(request, notes);
    if (isHere && (request.method === 'GET' || request.method === 'HEAD')) {
      const headers = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' };
      return { status: 200, headers, body: await write() };
    }
    return { status: isHere ? 405 : 404, headers: { 'Content-Type': 'text/plain' }, body: '' };
  };
}
