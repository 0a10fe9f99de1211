import type { Operations } from '../../operations/operations.js';
import { parseFields } from '../../parse-fields.js';
import { jsonAnswer } from '../answer.js';
import { readJson } from '../body/read-json.js';
import type { AdmittedCall, WrittenAnswer } from '../call.js';
import type { InjectFault } from '../inject-fault.js';
import { verifyCheck, verifyCreate } from '../schemas/verify.js';
import { checkedId } from './id.js';

export const verifyRoutes = (operations: Operations, injectFault: InjectFault) => ({
  async create({ caller, request }: AdmittedCall): Promise<WrittenAnswer> {
    const params = parseFields(verifyCreate, await readJson(request));
    return injectFault({ caller, params, idempotencyKey: null }, async () =>
      jsonAnswer(201, await operations.createVerification(caller, params)),
    );
  },

  async check({ caller, request }: AdmittedCall, id: string): Promise<WrittenAnswer> {
    const params = parseFields(verifyCheck, await readJson(request));
    return jsonAnswer(200, await operations.checkVerification(caller, checkedId(id), params));
  },

  get: async ({ caller }: AdmittedCall, id: string) =>
    jsonAnswer(200, await operations.getVerification(caller, checkedId(id))),
});
