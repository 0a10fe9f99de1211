import { ServiceError } from '../../errors/service-error.js';
import type { ApiRequest } from '../call.js';
import type { BatchQueue } from './batch-queue.js';
import { readBody } from './read-body.js';
import { type JsonObject, parseStrictJson } from './strict-json.js';

const jsonType = /^application\/json *(?:;|$)/i;
const charsets = /; *charset *= *("?)([^";]*)\1/gi;

/** Checks headers, media type, size and syntax of the body, in this order, and parses it. A large one waits first. */
export async function readJson(request: ApiRequest, queue?: BatchQueue): Promise<JsonObject> {
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
  const ready = queue?.wait(bytes.length);
  if (ready) await ready;
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
