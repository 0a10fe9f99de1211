import * as z from 'zod/mini';
import { type EmailBulkParams, type EmailSendParams, maxSubjectLength } from '../../../contract/index.js';
import { recipients, text } from './fields.js';

/** Counted in characters, not code units: an emoji in a subject is one. */
export const subject = text.check(
  z.refine((value) => [...value].length <= maxSubjectLength, {
    error: `must have at most ${maxSubjectLength} characters`,
  }),
  z.refine((value) => !/[\r\n\v\f\u0085\u2028\u2029]/.test(value), { error: 'must be one line' }),
);

const content = {
  subject,
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
