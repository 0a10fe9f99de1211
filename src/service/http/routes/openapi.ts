import { createHash } from 'node:crypto';
import type { Call, Route } from '../call.js';

/** The OpenAPI document, built on first use. */
export function openApi(): Route<Call> {
  let document: Promise<{ body: Buffer<ArrayBuffer>; tag: string }> | undefined;
  return async ({ request }) => {
    document ??= openApiJson();
    const { body, tag } = await document;
    const headers = { ETag: tag, 'Cache-Control': 'no-cache' };
    const known = request.headers.get('if-none-match')?.split(',') ?? [];
    return known.some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === tag)
      ? { status: 304, headers, body: '' }
      : { status: 200, headers, body };
  };
}

async function openApiJson(): Promise<{ body: Buffer<ArrayBuffer>; tag: string }> {
  const { openApiDocument } = await import('../openapi/document.js');
  const body = Buffer.from(JSON.stringify(openApiDocument()));
  return { body, tag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}
