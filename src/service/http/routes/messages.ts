import type { Operations } from '../../operations/operations.js';
import { parseFields } from '../../parse-fields.js';
import { respond } from '../answer.js';
import type { HttpContext } from '../context.js';
import { pageOf, queryOf } from '../query.js';
import { idOf } from './id.js';

export const messageRoutes = (operations: Operations) => ({
  async get(context: HttpContext): Promise<Response> {
    return respond(context, 200, await operations.getMessage(context.get('caller'), idOf(context)));
  },

  async list(context: HttpContext): Promise<Response> {
    const { messagesQuery } = await import('../schemas/lists.js');
    const { limit, after, ...filter } = parseFields(messagesQuery, queryOf(context));
    const page = pageOf({ limit, after });
    return respond(context, 200, await operations.listMessages(context.get('caller'), filter, page));
  },
});
