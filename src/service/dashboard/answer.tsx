import { gzipSync } from 'node:zlib';
import type { Child } from 'hono/jsx';
import { Fragment } from 'hono/jsx/jsx-runtime';
import type { BrowserRequest } from './cookie.js';
import { pageHeaders } from './headers.js';
import type { Strings } from './language/language.js';
import type { View } from './page.js';
import { Layout, type Shell } from './parts/layout.js';

/** A request whose Host and method are fine. */
export interface Asked {
  request: BrowserRequest;
  t: Strings;
  path: string;
  query: Readonly<Record<string, string>>;
  /** Path and query, as the browser has them. */
  address: string;
  requestId: string;
}

/** The HTML of a page's body: of one element, or none. */
export const rendered = async (node: Child): Promise<string> =>
  String(await Fragment({ children: node }).toString());

export async function html(
  { request, t, address, requestId }: Asked,
  { title, status = 200, body }: Pick<View, 'title' | 'status' | 'body'>,
  more: Partial<Shell> = {},
): Promise<Response> {
  const page = <Layout shell={{ t, title, path: address, ...more }}>{body}</Layout>;
  const text = `<!doctype html>${await rendered(page)}`;
  const headers = { ...pageHeaders, 'X-Request-Id': requestId };
  if (!/\bgzip\b/.test(request.headers.get('accept-encoding') ?? ''))
    return new Response(text, { status, headers });
  return new Response(gzipSync(text), { status, headers: { ...headers, 'Content-Encoding': 'gzip' } });
}

export function seeOther(location: string, cookie?: string): Response {
  const headers = {
    ...pageHeaders,
    Location: location,
    ...(cookie === undefined ? {} : { 'Set-Cookie': cookie }),
  };
  return new Response(null, { status: 303, headers });
}
