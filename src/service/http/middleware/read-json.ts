import { ServiceError } from '../../service-error.js';
import { readBody } from '../body/read-body.js';
import { parseStrictJson } from '../body/strict-json.js';
import type { Turns } from '../body/turns.js';
import type { Middleware } from '../context.js';

const jsonType = /^application\/json *(?:;|$)/i;
const charsets = /; *charset *= *("?)([^";]*)\1/gi;

/** Checks media type, size and syntax of the body, in this order, and sets `body`; `turns`: of batches. */
export function readJson(turns?: Turns): Middleware {
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
