import type { Carrier, CarrierRequest, Unread } from '../carriers/carrier.js';
import type { ApiRequest, RequestHandler } from './call.js';
import { WarningLog } from './warning-log.js';

/** Bytes of a request. */
const mostBytes = 65_536;
const ours = /^\/(receipts|incoming)(?=[/?#]|$)/;
const routeAndToken = /^\/[a-z]+\/([^/?#]+)\/([^/?#]+)(?:\?([^#]*))?$/;

export interface CarrierRequestTools {
  take: NonNullable<Carrier['take']>;
  /** Called for each request that gets 404. */
  count(of: CarrierRequest['of']): void;
  /** Called for each part of a request to a route that was not read. */
  countUnread(of: CarrierRequest['of'], route: string, what: Unread): void;
  report(warning: Error): void;
  now(): number;
}

/** Serves the paths for gateways beside the API, without a key and outside the request rate. */
export function withCarrierRequests(
  next: RequestHandler,
  { take, count, countUnread, report, now }: CarrierRequestTools,
): RequestHandler {
  // Without the path, which may contain most of a token.
  const log = (of: CarrierRequest['of']) =>
    new WarningLog(
      report,
      'GatewayRequestsNotFound',
      (times) =>
        `${times === 1 ? '1 request' : `${times} requests`} to /${of} got 404: no route has that path, token or signature`,
      now,
    );
  const logs = { receipts: log('receipts'), incoming: log('incoming') };
  const unreadLogs = new Map<string, WarningLog>();
  function unread(of: CarrierRequest['of'], route: string, what: Unread): void {
    countUnread(of, route, what);
    // A state that no route names is usually one on the way, and a message may be of another system.
    if (what === 'state' || what === 'unjoined') return;
    const name = `/${of}/${route}`;
    const made =
      unreadLogs.get(name) ??
      new WarningLog(
        report,
        'GatewayRequestsUnread',
        (times) =>
          `${times === 1 ? '1 request' : `${times} requests`} to ${name} could not be read: expected a form or JSON with the fields of the route`,
        now,
      );
    unreadLogs.set(name, made);
    made.add();
  }
  return async (request, notes) => {
    const of = ours.exec(request.target)?.[1] as CarrierRequest['of'] | undefined;
    if (of === undefined) return next(request, notes);
    const [, route = '', token = '', query = ''] = routeAndToken.exec(request.target) ?? [];
    // Without the token.
    if (notes) notes.route = `/${of}`;
    const type = request.headers.get('content-type') ?? '';
    const signature = request.headers.get('x-twilio-signature');
    const given = { of, route: decoded(route), token, query, type, signature };
    const status = await statusOf(request, given, (request) =>
      take(request, (what) => unread(of, given.route, what)),
    );
    if (status === 404) {
      count(of);
      logs[of].add();
    }
    return { status, headers: headersOf(status), body: '' };
  };
}

async function statusOf(
  { method, readBody }: ApiRequest,
  given: Omit<CarrierRequest, 'body'>,
  take: (request: CarrierRequest) => ReturnType<CarrierRequestTools['take']>,
): Promise<number> {
  // It only looks whether the address exists.
  if (method === 'HEAD') return (await take({ ...given, query: '', body: '' })) === null ? 404 : 200;
  if (method !== 'GET' && method !== 'POST') return 405;
  let body: Uint8Array;
  try {
    body = method === 'POST' ? await readBody(mostBytes) : new Uint8Array();
  } catch {
    return 413;
  }
  const isTaken = await take({ ...given, body });
  if (isTaken === null) return 404;
  if (isTaken === 'unsupported') return 415;
  // Gateways try again.
  return isTaken ? 200 : 503;
}

function headersOf(status: number): Record<string, string> {
  if (status === 405) return { Allow: 'GET, HEAD, POST' };
  return status === 503 ? { 'Retry-After': '10' } : {};
}

/** Empty for an invalid name. */
function decoded(written: string): string {
  try {
    return decodeURIComponent(written);
  } catch {
    return '';
  }
}
