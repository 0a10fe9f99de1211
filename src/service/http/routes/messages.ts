import type { Operations } from '../../operations/operations.js';
import { respond } from '../answer.js';
import type { HttpContext } from '../context.js';
import { idOf } from './id.js';

export const messageRoutes = (operations: Operations) => ({
  async get(context: HttpContext): Promise<Response> {
    return respond(context, 200, await operations.getMessage(context.get('caller'), idOf(context)));
  },
});
