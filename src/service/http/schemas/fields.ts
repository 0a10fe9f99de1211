import * as z from 'zod/mini';
import { maxBatchRecipients } from '../../../contract/index.js';

// Types and shapes only; the operations check everything that depends on meaning, settings and state.

/** A string that every store can hold: well-formed Unicode without NUL. */
export const text = z.string().check(
  z.refine((value) => !/\p{Surrogate}/u.test(value), {
    error: 'must not contain half a surrogate pair',
    abort: true,
  }),
  z.refine((value) => !value.includes('\0'), { error: 'must not contain a NUL character' }),
);

/** An entry of a list, of any type: the operations report all invalid entries. */
export const recipient = z.unknown() as unknown as z.ZodMiniType<string>;

export const recipients = z
  .array(recipient)
  .check(z.minLength(1, { abort: true }), z.maxLength(maxBatchRecipients, { abort: true }));

/** The body of POST /v1/suppressions/check. */
export const suppressionsCheck = z.strictObject({ to: recipients });
