import * as z from 'zod/mini';
import { verificationLimits } from '../../../contract/index.js';
import { text } from './fields.js';

const within = ({ min, max }: { min: number; max: number }) => z.int().check(z.gte(min), z.lte(max));

export const verifyCreate = z.strictObject({
  to: text,
  channel: z.exactOptional(z.enum(['sms', 'email'])),
  code_length: z.exactOptional(within(verificationLimits.codeLength)),
  expires_in: z.exactOptional(within(verificationLimits.expiresIn)),
  text: z.exactOptional(text),
});
export const verifyCheck = z.strictObject({ code: text });
