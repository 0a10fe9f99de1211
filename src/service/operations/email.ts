import type { EmailBulkParams, EmailSendParams } from '../../contract/index.js';
import { formatMailbox, sharedDomain } from '../mailbox.js';
import { maxNameLength } from '../settings.js';
import type { Content } from '../storage/store.js';
import type { OperationContext, Project } from './context.js';
import { checkEmail, type EmailFields, readEmailRecipient, readRecipients, tryAddress } from './fields.js';
import type { Answer, SendCall } from './operations.js';
import { emailPrice } from './pricing.js';
import { sendBatch, sendSingle } from './send.js';

/** POST /v1/email. */
export async function sendEmail(context: OperationContext, call: SendCall<EmailSendParams>): Promise<Answer> {
  const { caller, params, idempotencyKey, isBulk = false } = call;
  const project = await context.project(caller);
  checkEmail(params);
  const recipient = readEmailRecipient(params.to);
  const content = emailContent(project, params, isBulk);
  const price = emailPrice(project.settings);
  return sendSingle(context, { project, channel: 'email', recipient, content, price, idempotencyKey });
}

/** POST /v1/email/bulk. */
export async function sendEmailBulk(
  context: OperationContext,
  call: SendCall<EmailBulkParams>,
): Promise<Answer> {
  const { caller, params, idempotencyKey } = call;
  const project = await context.project(caller);
  checkEmail(params);
  const recipients = readRecipients(params.to, tryAddress);
  const content = emailContent(project, params);
  const price = emailPrice(project.settings);
  return sendBatch(context, { project, channel: 'email', recipients, content, price, idempotencyKey });
}

export function emailContent(project: Project, fields: EmailFields, isBulk = false): Content {
  const { settings } = project;
  return {
    text: fields.text ?? null,
    html: fields.html ?? null,
    subject: fields.subject,
    from: formatMailbox({
      name: fields.from_name ?? senderName(project),
      address: `no-reply@${settings.own_domain?.domain ?? sharedDomain}`,
    }),
    replyTo: fields.reply_to ?? settings.reply_to,
    encrypted: null,
    isBulk,
  };
}

/** The brand name, or else the project's name; truncated, since old data has longer names. */
export function senderName({ name, settings }: Project): string {
  const sender = settings.brand_name ?? name;
  return sender.length > maxNameLength ? [...sender].slice(0, maxNameLength).join('') : sender;
}
