import type { KeyScope, PageRequest } from '../../operations/operations.js';
import { parseFields } from '../../parse-fields.js';
import { jsonAnswer } from '../answer.js';
import type { AdmittedCall, WrittenAnswer } from '../call.js';
import { pageOf, queryOf } from '../query.js';
import { noSuchRoute } from '../route-table.js';

/** What the simulated operator delivered: with texts and codes, so it has a scope of its own. */
export interface Outbox {
  /** False beside real carriers. */
  isOffered(): Promise<boolean>;
  list(projectId: string, filter: { to?: string | undefined }, page: PageRequest): Promise<object>;
}

export const outboxRoutes = (outbox: Outbox | undefined) => ({
  /** Null if it is not offered. */
  scopes: async (): Promise<readonly KeyScope[] | null> => ((await outbox?.isOffered()) ? ['inbox'] : null),

  async list({ caller, request }: AdmittedCall): Promise<WrittenAnswer> {
    if (outbox === undefined) throw noSuchRoute();
    const { outboxQuery } = await import('../schemas/lists.js');
    const { to, ...page } = parseFields(outboxQuery, queryOf(request));
    return jsonAnswer(200, await outbox.list(caller.projectId, { to }, pageOf(page)));
  },
});
