import type { Operations } from '../../operations/operations.js';
import { parseFields } from '../../parse-fields.js';
import { respond } from '../answer.js';
import type { HttpContext } from '../context.js';
import { pageOf, queryOf } from '../query.js';
import { idOf } from './id.js';

export const batchRoutes = (operations: Operations) => ({
  async get(context: HttpContext): Promise<Response> {
    return respond(context, 200, await operations.getBatch(context.get('caller'), idOf(context)));
  },

  async list(context: HttpContext): Promise<Response> {
    const { batchesQuery } = await import('../schemas/lists.js');
    const { limit, after, ...filter } = parseFields(batchesQuery, queryOf(context));
    const page = pageOf({ limit, after });
    return respond(context, 200, await operations.listBatches(context.get('caller'), filter, page));
  },

  async listMessages(context: HttpContext): Promise<Response> {
    const id = idOf(context);
    const { pageQuery } = await import('../schemas/lists.js');
    const page = pageOf(parseFields(pageQuery, queryOf(context)));
    return respond(context, 200, await operations.listBatchMessages(context.get('caller'), id, page));
  },
});
