import * as z from 'zod/mini';
import type * as contract from '../../../contract/index.js';
import { serviceErrors, suppressionReasons } from '../../../contract/index.js';

// Schemas of the answers, for the document only; each must fit the type in the contract.

const id = z.uuid();
const time = z.iso.datetime({ precision: 3 });
const count = z.int().check(z.gte(0));
const channel = z.enum(['sms', 'email']);
const balance = { balance: count };

const message = {
  id,
  status: z.enum(['queued', 'sent', 'failed']),
  to: z.string(),
  credits: count,
  batch_id: z.nullable(id),
  error: z.nullable(z.object({ code: z.string(), message: z.string() })),
  created_at: time,
  sent_at: z.nullable(time),
};
const sms = { channel: z.literal('sms'), ...message, parts: count, rate_multiplier: z.number() };
const email = { channel: z.literal('email'), ...message };

export const smsResult: z.ZodMiniType<contract.SmsResult> = z.object({ ...sms, ...balance });
export const emailResult: z.ZodMiniType<contract.EmailResult> = z.object({ ...email, ...balance });
const delivery = z.nullable(z.enum(['delivered', 'undelivered', 'bounced', 'unknown']));
const carrierCode = z.nullable(z.string());
const found = { delivery, carrier_code: carrierCode };
export const anyMessage: z.ZodMiniType<contract.Message> = z.union([
  z.object({ ...sms, ...found }),
  z.object({ ...email, ...found }),
]);

const batchFields = {
  id,
  status: z.enum(['processing', 'completed']),
  channel,
  total: count,
  sent: count,
  failed: count,
  credits: count,
  created_at: time,
  completed_at: z.nullable(time),
};
/** How many of `sent` have the delivery `unknown`. */
const unknown = z.int().check(z.gte(0));
const prunedAt = z.exactOptional(time);
export const batch: z.ZodMiniType<contract.Batch> = z.object({
  ...batchFields,
  unknown,
  pruned_at: prunedAt,
});
export const batchResult: z.ZodMiniType<contract.BatchResult> = z.object({
  ...batchFields,
  ...balance,
});
/** Fields that the interface document does not have. */
export const extensions = [delivery, carrierCode, unknown, prunedAt];
const pageOf = <Item extends z.ZodMiniType>(item: Item) =>
  z.object({ data: z.array(item), next: z.nullable(id) });
export const messagePage: z.ZodMiniType<contract.MessagePage> = pageOf(anyMessage);
export const batchPage: z.ZodMiniType<contract.BatchPage> = pageOf(batch);

export const inboxPage: z.ZodMiniType<contract.Page<contract.InboxMessage>> = pageOf(
  z.object({
    id,
    channel,
    from: z.string(),
    to: z.string(),
    subject: z.exactOptional(z.nullable(z.string())),
    text: z.exactOptional(z.string()),
    received_at: time,
    waits_for_parts: z.boolean(),
  }),
);

const delivered = {
  message_id: id,
  to: z.string(),
  code: z.nullable(z.string()),
  route: z.string(),
  delivered_at: time,
};
const nothing = z.null();
export const deliveryPage = pageOf(
  z.union([
    z.object({
      channel: z.literal('sms'),
      ...delivered,
      text: z.string(),
      subject: nothing,
      html: nothing,
      from: nothing,
      reply_to: nothing,
    }),
    z.object({
      channel: z.literal('email'),
      ...delivered,
      text: z.nullable(z.string()),
      subject: z.string(),
      html: z.nullable(z.string()),
      from: z.nullable(z.string()),
      reply_to: z.nullable(z.string()),
    }),
  ]),
);

const verificationFields = {
  id,
  status: z.enum(['pending', 'verified', 'failed', 'expired']),
  channel,
  to: z.string(),
  attempts_remaining: count,
  credits: count,
  created_at: time,
  expires_at: time,
  verified_at: z.nullable(time),
};
export const verification: z.ZodMiniType<contract.Verification> = z.object(verificationFields);
export const verificationResult: z.ZodMiniType<contract.VerificationResult> = z.object({
  ...verificationFields,
  ...balance,
});

export const balanceResult: z.ZodMiniType<contract.Balance> = z.object(balance);
export const pricing: z.ZodMiniType<contract.Pricing> = z.object({
  sms: z.object({
    credits_per_part: z.number(),
    rate_multiplier: z.number(),
    latin_characters_per_part: count,
    cyrillic_characters_per_part: count,
    max_parts: count,
  }),
  email: z.object({ credits_per_message: z.number() }),
});

const suppressed = z.object({ to: z.string(), reason: z.enum(suppressionReasons) });
export const suppressionsCheckResult: z.ZodMiniType<contract.SuppressionsCheck> = z.object({
  data: z.array(suppressed),
});

const eventOf = <Type extends contract.EventType, Data extends z.ZodMiniType>(
  types: readonly Type[],
  data: Data,
) => z.object({ id: z.string(), type: z.enum(types), at: time, data });
export const eventPage: z.ZodMiniType<contract.EventPage> = z.object({
  data: z.array(
    z.union([
      eventOf(['message.sent', 'message.failed', 'message.delivery'], anyMessage),
      eventOf(['message.received'], z.nullable(z.object({ id }))),
      eventOf(['batch.completed'], batch),
      eventOf(['recipient.suppressed'], z.nullable(suppressed)),
    ]),
  ),
  next: z.string(),
});

export const health = z.object({ status: z.literal('ok') });
export const readiness = z.object({
  status: z.enum(['ready', 'held', 'unavailable']),
  carriers: z.array(
    z.object({ lane: z.string(), state: z.enum(['bound', 'down', 'simulated']), since: time }),
  ),
});

const codes = Object.keys(serviceErrors) as [contract.ServiceErrorCode, ...contract.ServiceErrorCode[]];
export const errorEnvelope = z.object({
  error: z.object({
    code: z.enum(codes),
    message: z.string(),
    invalid: z.exactOptional(z.array(z.string())),
    balance: z.exactOptional(count),
    required: z.exactOptional(count),
    attempts_remaining: z.exactOptional(count),
    id: z.exactOptional(id),
    reason: z.exactOptional(z.enum(suppressionReasons)),
  }),
});
