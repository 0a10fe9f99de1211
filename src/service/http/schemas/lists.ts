import * as z from 'zod/mini';
import { afterAll, eventTypes, longestEventWait, messagePage, normalId } from '../../../contract/index.js';
import { cursorOf } from '../../operations/events/list-events.js';
import { rule } from '../../parse-fields.js';
import { text } from './fields.js';

/** Separate schemas, to which the OpenAPI document adds their rules. */
export const limit = z.string().check(
  z.refine((value) => /^[1-9][0-9]*$/.test(value) && Number(value) <= messagePage.max, {
    error: `must be a whole number from ${messagePage.min} to ${messagePage.max}`,
  }),
);
const idOr = (problem: string) =>
  z.string().check(
    z.toLowerCase(),
    rule((id) => normalId(id) !== null, problem),
  );
export const after = idOr('must be the next of an earlier page');
const time = z.iso.datetime({
  offset: true,
  error: 'must be an ISO 8601 time, such as 2026-11-21T08:00:00Z',
});

const page = { limit: z.exactOptional(limit), after: z.exactOptional(after) };
const filters = {
  channel: z.exactOptional(z.enum(['sms', 'email'])),
  since: z.exactOptional(time),
  until: z.exactOptional(time),
};

/** The query of GET /v1/batches/{id}/messages. */
export const pageQuery = z.strictObject(page);

/** The query of GET /v1/messages. */
export const messagesQuery = z.strictObject({
  to: z.exactOptional(text),
  status: z.exactOptional(z.enum(['queued', 'sent', 'failed'])),
  delivery: z.exactOptional(z.enum(['delivered', 'undelivered', 'bounced', 'unknown'])),
  batch_id: z.exactOptional(idOr('must be the id of a batch')),
  ...filters,
  ...page,
});

/** Beside it, the OpenAPI document describes this `after` in its own words. */
export const delivered = idOr('must be the message_id of a delivery');

/** The query of GET /v1/outbox. */
export const outboxQuery = z.strictObject({
  to: z.exactOptional(text),
  limit: z.exactOptional(limit),
  after: z.exactOptional(delivered),
});

/** The query of GET /v1/inbox. */
export const inboxQuery = z.strictObject({ ...filters, ...page });
export const afterEvent = z
  .string()
  .check(
    rule(
      (value) => value === afterAll || cursorOf(value) !== null,
      'must be the next of an earlier page or the id of an event',
    ),
  );
export const types = z
  .string()
  .check(
    rule(
      (value) => value.split(',').every((each) => (eventTypes as readonly string[]).includes(each)),
      `must be one or more of ${eventTypes.join(', ')}, separated by commas`,
    ),
  );
export const wait = z
  .string()
  .check(
    rule(
      (value) => /^[0-9]{1,2}$/.test(value) && Number(value) <= longestEventWait,
      `must be a whole number of seconds from 0 to ${longestEventWait}`,
    ),
  );

/** The query of GET /v1/events. */
export const eventsQuery = z.strictObject({
  after: z.exactOptional(afterEvent),
  types: z.exactOptional(types),
  limit: z.exactOptional(limit),
  wait: z.exactOptional(wait),
});

/** The query of GET /v1/batches. */
export const batchesQuery = z.strictObject({
  status: z.exactOptional(z.enum(['processing', 'completed'])),
  ...filters,
  ...page,
});
