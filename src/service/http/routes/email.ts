import type { Operations } from '../../operations/operations.js';
import type { InjectFault } from '../inject-fault.js';
import { emailBulk, emailSend } from '../schemas/email.js';
import { sendRoute } from './send.js';

export const emailRoutes = (operations: Operations, injectFault: InjectFault) => ({
  send: sendRoute(emailSend, (call) => operations.sendEmail(call), injectFault),
  sendBulk: sendRoute(emailBulk, (call) => operations.sendEmailBulk(call), injectFault, { mayBeLarge: true }),
});
