import type { SmsBulkParams, SmsSendParams } from '../../contract/index.js';
import type { Content } from '../storage/store.js';
import type { OperationContext } from './context.js';
import { readRecipients, readSmsRecipient, tryNumber } from './fields.js';
import type { Answer, SendCall } from './operations.js';
import { smsPrice } from './pricing.js';
import { sendBatch, sendSingle } from './send.js';

/** POST /v1/sms. */
export async function sendSms(context: OperationContext, call: SendCall<SmsSendParams>): Promise<Answer> {
  const { caller, params, idempotencyKey, isBulk = false } = call;
  const project = await context.project(caller);
  const price = smsPrice(project.settings, params.text, context.clock.now());
  const recipient = readSmsRecipient(params.to, project.settings.operators);
  const content = smsContent(params.text, isBulk);
  return sendSingle(context, { project, channel: 'sms', recipient, content, price, idempotencyKey });
}

/** POST /v1/sms/bulk. */
export async function sendSmsBulk(context: OperationContext, call: SendCall<SmsBulkParams>): Promise<Answer> {
  const { caller, params, idempotencyKey } = call;
  const project = await context.project(caller);
  const price = smsPrice(project.settings, params.text, context.clock.now());
  const recipients = readRecipients(params.to, tryNumber(project.settings.operators));
  const content = smsContent(params.text);
  return sendBatch(context, { project, channel: 'sms', recipients, content, price, idempotencyKey });
}

export function smsContent(text: string, isBulk = false): Content {
  return { text, html: null, subject: null, from: null, replyTo: null, encrypted: null, isBulk };
}
