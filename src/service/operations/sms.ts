import { priceOfSms, type SmsBulkParams, type SmsSendParams } from '../../contract/index.js';
import { multiplierAt, type Settings } from '../admin/settings.js';
import type { Content } from '../storage/store.js';
import type { Price } from './accept-and-dispatch.js';
import type { OperationContext } from './context.js';
import { partsOf, readRecipients, readSmsRecipient, tryNumber } from './fields.js';
import type { Answer, SendCall } from './operations.js';
import { sendBatch, sendSingle } from './send.js';

/** POST /v1/sms. */
export async function sendSms(context: OperationContext, call: SendCall<SmsSendParams>): Promise<Answer> {
  const { caller, params, idempotencyKey } = call;
  const project = await context.project(caller.projectId);
  const price = smsPrice(project.settings, params.text, context.clock.now());
  const recipient = readSmsRecipient(params.to, project.settings.operators);
  const content = smsContent(params.text);
  return sendSingle(context, { project, channel: 'sms', recipient, content, price, idempotencyKey });
}

/** POST /v1/sms/bulk. */
export async function sendSmsBulk(context: OperationContext, call: SendCall<SmsBulkParams>): Promise<Answer> {
  const { caller, params, idempotencyKey } = call;
  const project = await context.project(caller.projectId);
  const price = smsPrice(project.settings, params.text, context.clock.now());
  const recipients = readRecipients(params.to, tryNumber(project.settings.operators));
  const content = smsContent(params.text);
  return sendBatch(context, { project, channel: 'sms', recipients, content, price, idempotencyKey });
}

/** What an SMS costs that is accepted now; refuses a text that is empty or too long. */
export function smsPrice(settings: Settings, text: string, now: number): Price {
  const parts = partsOf(text);
  const rateMultiplier = multiplierAt(settings, now);
  return { parts, rateMultiplier, credits: priceOfSms(parts, settings.prices.sms_part, rateMultiplier) };
}

function smsContent(text: string): Content {
  return { text, html: null, subject: null, from: null, replyTo: null, sealed: null };
}
