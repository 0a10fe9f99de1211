import { admit } from './admission.js';
import type { OperationContext } from './context.js';
import { sendEmail, sendEmailBulk } from './email.js';
import { listEvents } from './events/list-events.js';
import { listBatches, listBatchMessages, listInbox, listMessages } from './lists.js';
import { checkSuppressions, getBalance, getBatch, getMessage } from './lookups.js';
import type { Operations } from './operations.js';
import { getPricing } from './pricing.js';
import { sendSms, sendSmsBulk } from './sms.js';
import { checkVerification, createVerification, getVerification } from './verification.js';

export function createOperations(context: OperationContext): Operations {
  return {
    admit: (head) => admit(context, head),
    sendSms: (call) => sendSms(context, call),
    sendSmsBulk: (call) => sendSmsBulk(context, call),
    sendEmail: (call) => sendEmail(context, call),
    sendEmailBulk: (call) => sendEmailBulk(context, call),
    createVerification: (caller, params) => createVerification(context, caller, params),
    checkVerification: (caller, id, params) => checkVerification(context, caller, id, params),
    getVerification: (caller, id) => getVerification(context, caller, id),
    getMessage: (caller, id) => getMessage(context, caller, id),
    getBatch: (caller, id) => getBatch(context, caller, id),
    listBatchMessages: (caller, id, page) => listBatchMessages(context, caller, id, page),
    listMessages: (caller, filter, page) => listMessages(context, caller, filter, page),
    listBatches: (caller, filter, page) => listBatches(context, caller, filter, page),
    listInbox: (caller, filter, page) => listInbox(context, caller, filter, page),
    listEvents: (caller, query, whenEnded) => listEvents(context, caller, query, whenEnded),
    getBalance: (caller) => getBalance(context, caller),
    checkSuppressions: (caller, params) => checkSuppressions(context, caller, params),
    getPricing: (caller) => getPricing(context, caller),
  };
}
