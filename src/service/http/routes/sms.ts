import type { Operations } from '../../operations/operations.js';
import type { BreakOnDemand } from '../break-on-demand.js';
import { smsBulk, smsSend } from '../schemas/sms.js';
import { sendRoute } from './send.js';

export const smsRoutes = (operations: Operations, breakOnDemand: BreakOnDemand) => ({
  send: sendRoute(smsSend, (call) => operations.sendSms(call), breakOnDemand),
  sendBulk: sendRoute(smsBulk, (call) => operations.sendSmsBulk(call), breakOnDemand),
});
