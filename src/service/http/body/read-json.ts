import { ServiceError } from '../../errors/service-error.js';
import { largeTurn } from '../../event-loop.js';
import type { ApiRequest } from '../call.js';
import { readBody } from './read-body.js';
import { type JsonObject, parseStrictJson } from './strict-json.js';

/** Of a small batch, which does not wait. */
const smallBytes = 4_096;
const jsonType = /^application\/json *(?:;|$)/i;
const charsets = /; *charset *= *("?)([^";]*)\1/gi;

/**
 * Checks headers, media type, size and syntax of the body, in this order, and parses it. `mayBeLarge`: of a batch, whose
 * body waits for its turn.
 */
export async function readJson(request: ApiRequest, mayBeLarge = false): Promise<JsonObject> {
  if ((request.countOf?.('idempotency-key') ?? 0) > 1) {
    throw new ServiceError('invalid_request', 'Idempotency-Key: must appear only once');
  }
  if (!isJson(request.headers.get('content-type') ?? '')) {
    throw new ServiceError('unsupported_media_type', 'Content-Type: must be application/json in UTF-8');
  }
  if (!/^(?:identity)?$/i.test(request.headers.get('content-encoding')?.trim() ?? '')) {
    throw new ServiceError('unsupported_media_type', 'Content-Encoding: must be absent or identity');
  }
  const bytes = await readBody(request);
  if (mayBeLarge && bytes.length > smallBytes) await largeTurn('new');
  return parseStrictJson(bytes);
}

function isJson(contentType: string): boolean {
  return (
    jsonType.test(contentType) &&
    [...contentType.matchAll(charsets)].every(
      ([, , charset = '']) => charset.trim().toLowerCase() === 'utf-8',
    )
  );
}
