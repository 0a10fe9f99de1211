import type { Operations } from '../../operations/operations.js';
import { ServiceError } from '../../service-error.js';
import type { Middleware } from '../context.js';

/** Authentication, 1: `Authorization: Bearer <key>`. One answer for every wrong key. */
export function requireKey(operations: Operations): Middleware {
  return async (context, next) => {
    const secret = /^bearer ([\x21-\x7e]{1,255})$/i.exec(context.req.header('authorization') ?? '')?.[1];
    const caller = secret === undefined ? null : await operations.authenticate(secret);
    if (caller === null) throw new ServiceError('unauthorized', 'A valid API key is required');
    context.set('caller', caller);
    return next();
  };
}
