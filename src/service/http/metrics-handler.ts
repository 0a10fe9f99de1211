import type { RequestHandler } from './call.js';
import { pathOf } from './request-head.js';

export interface MetricsOptions {
  /** Whether a Host header names this machine; absent for a listener that only its scrapers reach. */
  isOwnHost?(host: string | null): boolean;
  /** Answers everything else, which is not found without it. */
  next?: RequestHandler;
}

const headers = { 'Content-Type': 'text/plain' };

/** Answers `GET /metrics`. */
export function metricsHandler(
  write: () => Promise<string>,
  { isOwnHost, next }: MetricsOptions,
): RequestHandler {
  return async (request, notes) => {
    // As sent: a proxy that passes /v1 on does not pass on what `/v1/../metrics` leads to.
    const isHere = pathOf(request.target) === '/metrics';
    if (!isHere) return next?.(request, notes) ?? { status: 404, headers, body: '' };
    if (request.method !== 'GET' && request.method !== 'HEAD') return { status: 405, headers, body: '' };
    const host = request.headers.get('host');
    if (isOwnHost?.(host) === false) {
      const body = `Metrics are for this machine, and this request is for the host "${host ?? ''}". --metrics-port serves them to others.\n`;
      return { status: 421, headers: { ...headers, 'X-Content-Type-Options': 'nosniff' }, body };
    }
    return {
      status: 200,
      headers: { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' },
      body: await write(),
    };
  };
}
