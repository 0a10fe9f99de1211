import type * as z from 'zod/mini';
import {
  bulkClass,
  classHeader,
  type ErrorEnvelope,
  isIdempotencyKey,
  maxIdempotencyKeyLength,
} from '../../../contract/index.js';
import { ServiceError } from '../../errors/service-error.js';
import type { Answer, SendCall } from '../../operations/operations.js';
import { parseFields } from '../../parse-fields.js';
import { jsonAnswer } from '../answer.js';
import { readJson } from '../body/read-json.js';
import type { AdmittedCall, ApiRequest, Call, Route, WrittenAnswer } from '../call.js';
import type { InjectFault } from '../inject-fault.js';

/**
 * The route of a send: body, idempotency key, field rules, operation, answer. Limits, Idempotency, 1: a send with a
 * used key gets that key's answer, whatever its fields are.
 */
export function sendRoute<Params extends { to: string | string[] }>(
  schema: z.ZodMiniType<Params>,
  send: (call: SendCall<Params>) => Promise<Answer>,
  injectFault: InjectFault,
  { mayBeLarge = false } = {},
): Route {
  return async (call: AdmittedCall) => {
    const { request, caller, replay } = call;
    const body = await readJson(request, mayBeLarge);
    const idempotencyKey = idempotencyKeyOf(request);
    if (replay !== null) return answerOf(call, { ...(await replay()), replayed: true });
    const isBulk = request.headers.get(classHeader)?.toLowerCase() === bulkClass;
    const sent = { caller, params: parseFields(schema, body), idempotencyKey, isBulk };
    return injectFault(sent, async () => answerOf(call, await send(sent)));
  };
}

function idempotencyKeyOf({ headers }: ApiRequest): string | null {
  const key = headers.get('idempotency-key');
  if (key !== null && !isIdempotencyKey(key)) {
    throw new ServiceError(
      'invalid_request',
      `Idempotency-Key: must be 1 to ${maxIdempotencyKeyLength} printable ASCII characters`,
    );
  }
  return key;
}

function answerOf({ notes }: Call, { status, body, replayed }: Answer): WrittenAnswer {
  if (notes && status >= 400) notes.code = (body as Partial<ErrorEnvelope>).error?.code ?? null;
  return jsonAnswer(status, body, replayed ? { 'Idempotency-Replayed': 'true' } : {});
}
