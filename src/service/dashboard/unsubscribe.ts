import { randomUUID } from 'node:crypto';
import { ServiceError } from '../errors/service-error.js';
import type { UnsubscribeTokens } from '../inbox/unsubscribe-token.js';
import type { OperationContext } from '../operations/context.js';
import { assetAt, assetPaths } from './assets/assets.js';
import type { BrowserRequest } from './cookie.js';
import { pageHeaders } from './headers.js';
import { languageOf } from './language/language.js';
import { type Reader, type Stage, unsubscribePage } from './pages/unsubscribe.js';

export interface UnsubscribeParts extends Pick<OperationContext, 'store' | 'readProject'> {
  tokens: UnsubscribeTokens;
  report(error: unknown, requestId: string): void;
}

/** Beside the pages: a proxy may keep strangers from the dashboard. */
const style = assetPaths.style.replace(/^.*\//, '/u/');

const headers: Readonly<Record<string, string>> = {
  ...pageHeaders,
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  // The address is all that it takes.
  'Referrer-Policy': 'no-referrer',
};

const nobody: Reader = { brand: '', to: '' };

/** A form, in either of the forms that RFC 8058 allows. */
const isOneClick = (body: string) =>
  /(?:^|[&\n])List-Unsubscribe=One-Click(?:[&\r\n]|$)/i.test(body) ||
  /\bname="?List-Unsubscribe"?[^\r\n]*\r?\n(?:[^\r\n]+\r?\n)*\r?\nOne-Click\b/i.test(body);

/** Where recipients of bulk emails unsubscribe, and their mail programs for them (RFC 8058), without a redirect. */
export function answerUnsubscribing({ store, readProject, tokens, report }: UnsubscribeParts) {
  return async (request: BrowserRequest, readBody: () => Promise<Uint8Array>): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    const language = searchParams.get('language') ?? undefined;
    const t = languageOf(language, request.headers.get('accept-language') ?? '');
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    let reader = nobody;
    const page = (status: number, stage: Stage, more: Readonly<Record<string, string>> = {}) =>
      new Response(unsubscribePage(t, stage, reader, style), { status, headers: { ...headers, ...more } });
    const asset = isRead && pathname === style ? assetAt(assetPaths.style) : null;
    if (asset !== null) return asset;
    try {
      // Nothing is read for a link that is none.
      const link = tokens.read(/^\/u\/([\w-]+)$/.exec(pathname)?.[1] ?? '');
      const project = link && (await store.getProject(link.projectId));
      if (!project) return page(404, 'none');
      const { projectId, to } = link;
      reader = { brand: readProject(project).settings.brand_name ?? project.name, to };
      if (isRead) return page(200, 'ask');
      if (request.method !== 'POST') return page(405, 'ask', { Allow: 'GET, HEAD, POST' });
      if (!isOneClick(Buffer.from(await readBody()).toString())) return page(400, 'ask');
      // Repeated by whoever has the link, it writes nothing.
      const [before] = await store.findSuppressions(projectId, [to]);
      if (before !== 'opt_out') await store.suppress(projectId, to, 'opt_out');
      return page(200, 'done');
    } catch (error) {
      if (error instanceof ServiceError && error.status < 500) return page(error.status, 'ask');
      report(error, randomUUID());
      return page(503, 'later', { 'Retry-After': '10' });
    }
  };
}
