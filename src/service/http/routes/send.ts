import type * as z from 'zod/mini';
import type { Answer, SendCall } from '../../operations/operations.js';
import { parseFields } from '../../parse-fields.js';
import { respondToSend } from '../answer.js';
import type { Handler } from '../context.js';
import type { InjectFault } from '../inject-fault.js';

/** The route of a send: field rules, operation, answer. */
export function sendRoute<Params extends { to: string | string[] }>(
  schema: z.ZodMiniType<Params>,
  send: (call: SendCall<Params>) => Promise<Answer>,
  injectFault: InjectFault,
): Handler {
  return async (context) => {
    const params = parseFields(schema, context.get('body'));
    const caller = context.get('caller');
    const idempotencyKey = context.get('idempotencyKey');
    return injectFault(context, params.to, async () =>
      respondToSend(context, await send({ caller, params, idempotencyKey })),
    );
  };
}
