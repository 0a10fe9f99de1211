import type { Operations } from '../../operations/operations.js';
import { jsonAnswer } from '../answer.js';
import type { AdmittedCall } from '../call.js';

export const accountRoutes = (operations: Operations) => ({
  balance: async ({ caller }: AdmittedCall) => jsonAnswer(200, await operations.getBalance(caller)),
  pricing: async ({ caller }: AdmittedCall) => jsonAnswer(200, await operations.getPricing(caller)),
});
