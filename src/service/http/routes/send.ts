import type * as z from 'zod/mini';
import type { Answer, SendCall } from '../../operations/operations.js';
import { parseFields } from '../../parse-fields.js';
import { respondToSend } from '../answer.js';
import type { BreakOnDemand } from '../break-on-demand.js';
import type { Handler } from '../context.js';

/** The route of a send: field rules, operation, answer. */
export function sendRoute<Params extends { to: string | string[] }>(
  schema: z.ZodMiniType<Params>,
  send: (call: SendCall<Params>) => Promise<Answer>,
  breakOnDemand: BreakOnDemand,
): Handler {
  return async (context) => {
    const params = parseFields(schema, context.get('body'));
    const caller = context.get('caller');
    const idempotencyKey = context.get('idempotencyKey');
    return breakOnDemand(context, params.to, async () =>
      respondToSend(context, await send({ caller, params, idempotencyKey })),
    );
  };
}
