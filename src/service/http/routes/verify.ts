import type { Operations } from '../../operations/operations.js';
import { parseFields } from '../../parse-fields.js';
import { respond } from '../answer.js';
import type { HttpContext } from '../context.js';
import type { InjectFault } from '../inject-fault.js';
import { verifyCheck, verifyCreate } from '../schemas/verify.js';
import { idOf } from './id.js';

export const verifyRoutes = (operations: Operations, injectFault: InjectFault) => ({
  async create(context: HttpContext): Promise<Response> {
    const params = parseFields(verifyCreate, context.get('body'));
    return injectFault(context, params.to, async () =>
      respond(context, 201, await operations.createVerification(context.get('caller'), params)),
    );
  },

  async check(context: HttpContext): Promise<Response> {
    const params = parseFields(verifyCheck, context.get('body'));
    return respond(
      context,
      200,
      await operations.checkVerification(context.get('caller'), idOf(context), params),
    );
  },

  async get(context: HttpContext): Promise<Response> {
    return respond(context, 200, await operations.getVerification(context.get('caller'), idOf(context)));
  },
});
