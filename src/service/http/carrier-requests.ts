import type { CarrierRequest } from '../carriers/carrier.js';
import type { ApiRequest, RequestHandler } from './call.js';

/** Bytes of a request. */
const mostBytes = 65_536;
const paths = /^\/(receipts|incoming)\/([^/?#]+)\/([^/?#]+)(?:\?([^#]*))?$/;

export type TakeRequest = (request: CarrierRequest) => Promise<boolean | null>;

/** The paths of carriers beside the API, on one port: without a key, and outside the rates of projects. */
export function withCarrierRequests(next: RequestHandler, take: TakeRequest): RequestHandler {
  return async (request, notes) => {
    const [, of, route = '', token = '', query = ''] = paths.exec(request.target) ?? [];
    if (of === undefined) return next(request, notes);
    // Without the token.
    if (notes) notes.route = `/${of}`;
    const type = request.headers.get('content-type') ?? '';
    const signature = request.headers.get('x-twilio-signature');
    const given = { of: of as CarrierRequest['of'], route: decoded(route), token, query, type, signature };
    const status = await statusOf(request, given, take);
    return { status, headers: headersOf(status), body: '' };
  };
}

async function statusOf(
  { method, readBody }: ApiRequest,
  given: Omit<CarrierRequest, 'body'>,
  take: TakeRequest,
): Promise<number> {
  if (method !== 'GET' && method !== 'POST') return 405;
  let body: Uint8Array;
  try {
    body = method === 'POST' ? await readBody() : new Uint8Array();
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

/** Empty for an invalid name. */
function decoded(written: string): string {
  try {
    return decodeURIComponent(written);
  } catch {
    return '';
  }
}
