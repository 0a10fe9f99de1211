import type { Operations } from '../../operations/operations.js';
import { written } from '../answer.js';
import type { AdmittedCall } from '../call.js';

export const accountRoutes = (operations: Operations) => ({
  balance: async ({ caller }: AdmittedCall) => written(200, await operations.getBalance(caller)),
  pricing: async ({ caller }: AdmittedCall) => written(200, await operations.getPricing(caller)),
});
