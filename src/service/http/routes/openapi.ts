import { createHash } from 'node:crypto';
import { write } from '../answer.js';
import type { Handler } from '../context.js';

/** The OpenAPI document, made and loaded on first use. */
export function openApi(): Handler {
  let document: Promise<{ body: Buffer<ArrayBuffer>; tag: string }> | undefined;
  return async (context) => {
    document ??= openApiJson();
    const { body, tag } = await document;
    const headers = { ETag: tag, 'Cache-Control': 'no-cache' };
    const known = context.req.header('if-none-match')?.split(/ *, */) ?? [];
    return known.some((each) => each === '*' || each.replace(/^W\//, '') === tag)
      ? write(context, { status: 304, headers, body: '' })
      : write(context, { status: 200, headers, body });
  };
}

async function openApiJson(): Promise<{ body: Buffer<ArrayBuffer>; tag: string }> {
  const { openApiDocument } = await import('../openapi/document.js');
  const body = Buffer.from(JSON.stringify(openApiDocument()));
  return { body, tag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}
