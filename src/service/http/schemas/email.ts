import * as z from 'zod/mini';
import type { EmailBulkParams, EmailSendParams } from '../../../contract/index.js';
import { recipients, text } from './fields.js';

/** Separate schemas, to which the OpenAPI document adds their lengths. */
export const subject = text.check();
export const fromName = text.check();

const content = {
  subject,
  html: z.exactOptional(text),
  text: z.exactOptional(text),
  from_name: z.exactOptional(fromName),
  reply_to: z.exactOptional(text),
};

// The operations check that html or text is present.
type Schema<Params> = z.ZodMiniType<Params>;
export const emailSend = z.strictObject({
  to: text,
  ...content,
}) as Schema<EmailSendParams>;
export const emailBulk = z.strictObject({
  to: recipients,
  ...content,
}) as Schema<EmailBulkParams>;
