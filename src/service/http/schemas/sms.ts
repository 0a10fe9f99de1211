import * as z from 'zod/mini';
import { recipients, text } from './fields.js';

export const smsSend = z.strictObject({ to: text, text });
export const smsBulk = z.strictObject({ to: recipients, text });
