import * as z from 'zod/mini';
import type { EmailBulkParams, EmailSendParams } from '../../../contract/index.js';
import { recipients, text } from './fields.js';

const content = {
  subject: text,
  html: z.exactOptional(text),
  text: z.exactOptional(text),
  from_name: z.exactOptional(text),
  reply_to: z.exactOptional(text),
};

// POST /v1/email, rule 1.
const hasContent = z.refine<{ html?: string; text?: string }>((email) => 'html' in email || 'text' in email, {
  error: 'html, text: at least one of them is required',
});

type Schema<Params> = z.ZodMiniType<Params>;
export const emailSend = z
  .strictObject({ to: text, ...content })
  .check(hasContent) as Schema<EmailSendParams>;
export const emailBulk = z
  .strictObject({ to: recipients, ...content })
  .check(hasContent) as Schema<EmailBulkParams>;
