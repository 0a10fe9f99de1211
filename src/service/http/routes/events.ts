import type { EventType } from '../../../contract/index.js';
import type { Operations } from '../../operations/operations.js';
import { parseFields } from '../../parse-fields.js';
import { jsonAnswer } from '../answer.js';
import type { AdmittedCall } from '../call.js';
import { pageOf, queryOf } from '../query.js';

export const eventRoutes = (operations: Operations) => ({
  async list({ caller, request }: AdmittedCall) {
    const { eventsQuery } = await import('../schemas/lists.js');
    const { after, types, limit, wait } = parseFields(eventsQuery, queryOf(request));
    const query = {
      after,
      types: types?.split(',') as EventType[] | undefined,
      limit: pageOf({ limit }).limit,
      wait: wait === undefined ? undefined : Number(wait),
    };
    return jsonAnswer(200, await operations.listEvents(caller, query, request.whenEnded));
  },
});
