import { ServiceError } from '../../service-error.js';
import type { BatchTurns } from '../body/batch-turns.js';
import { readBody } from '../body/read-body.js';
import { parseStrictJson } from '../body/strict-json.js';
import type { Middleware } from '../context.js';

const jsonType = /^application\/json *(?:;|$)/i;
const charsets = /; *charset *= *("?)([^";]*)\1/gi;

/** Checks media type, size and syntax of the body, in this order, and sets `body`, in its turn where there are turns. */
export function readJson(turns?: BatchTurns): Middleware {
  return async (context, next) => {
    if (!isJson(context.req.header('content-type') ?? '')) {
      throw new ServiceError('unsupported_media_type', 'Content-Type: must be application/json in UTF-8');
    }
    if (!/^(?:identity)?$/i.test(context.req.header('content-encoding')?.trim() ?? '')) {
      throw new ServiceError('unsupported_media_type', 'Content-Encoding: must be absent or identity');
    }
    const bytes = await readBody(context);
    const turn = turns?.take(bytes.length);
    if (turn) await turn;
    context.set('body', parseStrictJson(bytes));
    return next();
  };
}

function isJson(contentType: string): boolean {
  return (
    jsonType.test(contentType) &&
    [...contentType.matchAll(charsets)].every(
      ([, , charset = '']) => charset.trim().toLowerCase() === 'utf-8',
    )
  );
}
