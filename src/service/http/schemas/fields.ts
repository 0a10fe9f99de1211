import * as z from 'zod/mini';
import { maxBatchRecipients } from '../../../contract/index.js';

// Types and shapes only; what depends on meaning, settings or state is the operations' to check.

/** A string that every store can keep: whole Unicode, no NUL. */
export const text = z.string().check(
  z.refine((value) => !/\p{Surrogate}/u.test(value), {
    error: 'must not contain half a surrogate pair',
    abort: true,
  }),
  z.refine((value) => !value.includes('\0'), { error: 'must not contain a NUL character' }),
);

/** One of many: the operations refuse those that cannot be sent to, of whatever type, and name all of them. */
export const recipient = z.unknown() as unknown as z.ZodMiniType<string>;

export const recipients = z
  .array(recipient)
  .check(z.minLength(1, { abort: true }), z.maxLength(maxBatchRecipients, { abort: true }));
