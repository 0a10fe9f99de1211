import type { KeyScope, Operations } from '../../operations/operations.js';
import { parseFields } from '../../parse-fields.js';
import { jsonAnswer } from '../answer.js';
import type { AdmittedCall, WrittenAnswer } from '../call.js';
import { pageOf, queryOf } from '../query.js';

export const inboxRoutes = (operations: Operations) => ({
  scopes: async (): Promise<readonly KeyScope[]> => ['read', 'inbox'],

  /** What people wrote is left out for a key that may only read: most were made before there was an inbox. */
  async list({ caller, scope, request }: AdmittedCall): Promise<WrittenAnswer> {
    const { inboxQuery } = await import('../schemas/lists.js');
    const { limit, after, ...filter } = parseFields(inboxQuery, queryOf(request));
    const page = await operations.listInbox(caller, filter, pageOf({ limit, after }));
    const data = page.data.map(({ subject: _, text: __, ...rest }) => rest);
    return jsonAnswer(200, scope.includes('inbox') ? page : { ...page, data });
  },
});
