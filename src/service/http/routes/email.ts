import type { Operations } from '../../operations/operations.js';
import type { BreakOnDemand } from '../break-on-demand.js';
import { emailBulk, emailSend } from '../schemas/email.js';
import { sendRoute } from './send.js';

export const emailRoutes = (operations: Operations, breakOnDemand: BreakOnDemand) => ({
  send: sendRoute(emailSend, (call) => operations.sendEmail(call), breakOnDemand),
  sendBulk: sendRoute(emailBulk, (call) => operations.sendEmailBulk(call), breakOnDemand),
});
