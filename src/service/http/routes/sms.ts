import type { Operations } from '../../operations/operations.js';
import type { InjectFault } from '../inject-fault.js';
import { smsBulk, smsSend } from '../schemas/sms.js';
import { sendRoute } from './send.js';

export const smsRoutes = (operations: Operations, injectFault: InjectFault) => ({
  send: sendRoute(smsSend, (call) => operations.sendSms(call), injectFault),
  sendBulk: sendRoute(smsBulk, (call) => operations.sendSmsBulk(call), injectFault, { mayBeLarge: true }),
});
