import * as z from 'zod/mini';
import { messagePage } from '../../../contract/index.js';

/** The form of every id: a UUID in lower case. */
export const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The query of GET /v1/batches/{id}/messages. */
export const pageQuery = z.strictObject({
  limit: z.exactOptional(
    z.string().check(
      z.refine((value) => /^[1-9][0-9]*$/.test(value) && Number(value) <= messagePage.max, {
        error: `must be a whole number from ${messagePage.min} to ${messagePage.max}`,
      }),
    ),
  ),
  after: z.exactOptional(z.string().check(z.regex(uuid, { error: 'must be the id of a message' }))),
});
