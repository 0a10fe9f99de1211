import type { Operations } from '../../operations/operations.js';
import { parseFields } from '../../parse-fields.js';
import { jsonAnswer } from '../answer.js';
import type { AdmittedCall, WrittenAnswer } from '../call.js';
import { pageOf, queryOf } from '../query.js';
import { checkedId } from './id.js';

export const messageRoutes = (operations: Operations) => ({
  get: async ({ caller }: AdmittedCall, id: string) =>
    jsonAnswer(200, await operations.getMessage(caller, checkedId(id))),

  async list({ caller, request }: AdmittedCall): Promise<WrittenAnswer> {
    const { messagesQuery } = await import('../schemas/lists.js');
    const { limit, after, ...filter } = parseFields(messagesQuery, queryOf(request));
    return jsonAnswer(200, await operations.listMessages(caller, filter, pageOf({ limit, after })));
  },
});
