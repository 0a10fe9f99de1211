import { isIdempotencyKey, maxIdempotencyKeyLength } from '../../../contract/index.js';
import { ServiceError } from '../../service-error.js';
import { respondToSend } from '../answer.js';
import type { Middleware } from '../context.js';

/** Limits, Idempotency, 1: a send with a used key gets the answer of that key, whatever its fields are. */
export const replayAnswer: Middleware = async (context, next) => {
  const key = context.req.header('idempotency-key') ?? null;
  if ((context.env.plain?.countOf?.('idempotency-key') ?? 0) > 1) {
    throw new ServiceError('invalid_request', 'Idempotency-Key: must appear only once');
  }
  if (key !== null && !isIdempotencyKey(key)) {
    throw new ServiceError(
      'invalid_request',
      `Idempotency-Key: must be 1 to ${maxIdempotencyKeyLength} printable ASCII characters`,
    );
  }
  const replay = context.get('replay');
  if (replay !== null) return respondToSend(context, { ...(await replay()), replayed: true });
  context.set('idempotencyKey', key);
  return next();
};
