import type { Operations } from '../../operations/operations.js';
import { respond } from '../answer.js';
import type { HttpContext } from '../context.js';

export const accountRoutes = (operations: Operations) => ({
  async balance(context: HttpContext): Promise<Response> {
    return respond(context, 200, await operations.getBalance(context.get('caller')));
  },

  async pricing(context: HttpContext): Promise<Response> {
    return respond(context, 200, await operations.getPricing(context.get('caller')));
  },
});
