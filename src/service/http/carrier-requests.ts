import type { CarrierRequest } from '../carriers/carrier.js';
import type { App } from './app.js';
import type { PlainExchange } from './context.js';

/** Bytes of a request. */
const mostBytes = 65_536;
const paths = /^\/(receipts|incoming)\/([^/?#]+)\/([^/?#]+)(?:\?([^#]*))?$/;

export type TakeRequest = (request: CarrierRequest) => Promise<boolean | null>;

/** The paths of carriers beside the API, on one port: without a key, and outside the rates of projects. */
export function withCarrierRequests(app: App, take: TakeRequest): App {
  return {
    routes: app.routes,
    async fetch(request, bindings) {
      const { plain, notes } = bindings ?? {};
      const [, of, route = '', token = '', query = ''] = paths.exec(plain?.target ?? '') ?? [];
      if (plain === undefined || of === undefined) return app.fetch(request, bindings);
      // The token is no part of it.
      if (notes !== undefined) notes.route = `/${of}`;
      const type = request.headers.get('content-type') ?? '';
      const signature = request.headers.get('x-twilio-signature');
      const given = { of: of as CarrierRequest['of'], route: decoded(route), token, query, type, signature };
      const status = await statusOf(request.method, plain, given, take);
      plain.answer = { status, headers: headersOf(status), body: '' };
      return plain.placeholder;
    },
  };
}

async function statusOf(
  method: string,
  plain: PlainExchange,
  given: Omit<CarrierRequest, 'body'>,
  take: TakeRequest,
): Promise<number> {
  if (method !== 'GET' && method !== 'POST') return 405;
  let body: Uint8Array;
  try {
    body = method === 'POST' ? await plain.readBody() : new Uint8Array();
  } catch {
    return 413;
  }
  if (body.length > mostBytes) return 413;
  const isTaken = await take({ ...given, body: Buffer.from(body).toString() });
  if (isTaken === null) return 404;
  // Gateways come again.
  return isTaken ? 200 : 503;
}

function headersOf(status: number): Record<string, string> {
  if (status === 405) return { Allow: 'GET, POST' };
  return status === 503 ? { 'Retry-After': '10' } : {};
}

/** Empty for what is no name. */
function decoded(written: string): string {
  try {
    return decodeURIComponent(written);
  } catch {
    return '';
  }
}
