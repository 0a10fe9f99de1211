import { messagePage } from '../../../contract/index.js';
import type { Operations } from '../../operations/operations.js';
import { parseFields, quoteKey } from '../../parse-fields.js';
import { ServiceError } from '../../service-error.js';
import { respond } from '../answer.js';
import type { HttpContext } from '../context.js';
import { pageQuery } from '../schemas/path.js';
import { idOf } from './id.js';

export const batchRoutes = (operations: Operations) => ({
  async get(context: HttpContext): Promise<Response> {
    return respond(context, 200, await operations.getBatch(context.get('caller'), idOf(context)));
  },

  async listMessages(context: HttpContext): Promise<Response> {
    const id = idOf(context);
    const { limit, after = null } = parseFields(pageQuery, queryOf(context));
    const page = { limit: limit === undefined ? messagePage.default : Number(limit), after };
    return respond(context, 200, await operations.listBatchMessages(context.get('caller'), id, page));
  },
});

function queryOf(context: HttpContext): Record<string, string> {
  const parameters = new URL(context.req.url).searchParams;
  const repeated = [...parameters.keys()].find((name, at, names) => names.indexOf(name) !== at);
  if (repeated !== undefined) {
    throw new ServiceError('invalid_request', `${quoteKey(repeated)}: appears twice in the query`);
  }
  return Object.fromEntries(parameters);
}
