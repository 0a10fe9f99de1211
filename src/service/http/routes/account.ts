import type { Operations } from '../../operations/operations.js';
import { parseFields } from '../../parse-fields.js';
import { jsonAnswer } from '../answer.js';
import { readJson } from '../body/read-json.js';
import type { AdmittedCall } from '../call.js';
import { suppressionsCheck } from '../schemas/fields.js';

export const accountRoutes = (operations: Operations) => ({
  balance: async ({ caller }: AdmittedCall) => jsonAnswer(200, await operations.getBalance(caller)),
  async checkSuppressions({ caller, request }: AdmittedCall) {
    const params = parseFields(suppressionsCheck, await readJson(request));
    return jsonAnswer(200, await operations.checkSuppressions(caller, params));
  },
  pricing: async ({ caller }: AdmittedCall) => jsonAnswer(200, await operations.getPricing(caller)),
});
