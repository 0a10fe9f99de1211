import type { Operations } from '../../operations/operations.js';
import { parseFields } from '../../parse-fields.js';
import { jsonAnswer } from '../answer.js';
import type { AdmittedCall, WrittenAnswer } from '../call.js';
import { pageOf, queryOf } from '../query.js';
import { checkedId } from './id.js';

export const batchRoutes = (operations: Operations) => ({
  get: async ({ caller }: AdmittedCall, id: string) =>
    jsonAnswer(200, await operations.getBatch(caller, checkedId(id))),

  async list({ caller, request }: AdmittedCall): Promise<WrittenAnswer> {
    const { batchesQuery } = await import('../schemas/lists.js');
    const { limit, after, ...filter } = parseFields(batchesQuery, queryOf(request));
    return jsonAnswer(200, await operations.listBatches(caller, filter, pageOf({ limit, after })));
  },

  async listMessages({ caller, request }: AdmittedCall, given: string): Promise<WrittenAnswer> {
    const id = checkedId(given);
    const { pageQuery } = await import('../schemas/lists.js');
    const page = pageOf(parseFields(pageQuery, queryOf(request)));
    return jsonAnswer(200, await operations.listBatchMessages(caller, id, page));
  },
});
