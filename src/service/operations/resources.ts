import type {
  Batch,
  ErrorEnvelope,
  InboxMessage,
  Message,
  ServiceErrorCode,
  Verification,
} from '../../contract/index.js';
import { serviceErrors } from '../../contract/index.js';
import type { BatchRecord, InboxRecord, MessageRecord, VerificationRecord } from '../storage/store.js';
import { timestamp } from '../timestamp.js';

/** The final answer to a send; `body` as it is sent. */
export interface SendAnswer {
  status: number;
  body: object;
}

export function messageResource(record: MessageRecord): Message {
  const { id, status, channel, to, credits, batchId: batch_id, error, parts, rateMultiplier } = record;
  const created_at = timestamp(record.createdAt);
  const sent_at = record.sentAt === null ? null : timestamp(record.sentAt);
  // Not spread: every send creates two of them.
  return channel === 'email'
    ? { id, status, channel, to, credits, batch_id, error, created_at, sent_at }
    : {
        id,
        status,
        channel,
        to,
        credits,
        batch_id,
        error,
        created_at,
        sent_at,
        parts: parts ?? 0,
        rate_multiplier: rateMultiplier ?? 1,
      };
}

/** A message as read, with its delivery and the carrier's code of a failure (extensions of the interface). */
export function foundMessage(record: MessageRecord): Message {
  return Object.assign(messageResource(record), {
    delivery: record.delivery,
    carrier_code: record.carrierCode ?? null,
  });
}

function batchResource(record: BatchRecord): Batch {
  return {
    id: record.id,
    status: record.status,
    channel: record.channel,
    total: record.total,
    sent: record.sent,
    failed: record.failed,
    credits: record.credits,
    created_at: timestamp(record.createdAt),
    completed_at: record.completedAt === null ? null : timestamp(record.completedAt),
  };
}

/** A batch as read, with its extensions: the number of unknown deliveries, and when it was erased. */
export function foundBatch(record: BatchRecord): Batch {
  const batch = { ...batchResource(record), unknown: record.unknown };
  return record.prunedAt === null ? batch : { ...batch, pruned_at: timestamp(record.prunedAt) };
}

export function inboxMessage(record: InboxRecord): Required<InboxMessage> {
  return {
    id: record.id,
    channel: record.channel,
    from: record.from,
    to: record.to,
    subject: record.subject,
    text: record.text,
    received_at: timestamp(record.receivedAt),
    waits_for_parts: record.waitsForParts,
  };
}

export function verificationResource(record: VerificationRecord): Verification {
  return {
    id: record.id,
    status: record.status,
    channel: record.channel,
    to: record.to,
    attempts_remaining: record.attemptsRemaining,
    credits: record.credits,
    created_at: timestamp(record.createdAt),
    expires_at: timestamp(record.expiresAt),
    verified_at: record.verifiedAt === null ? null : timestamp(record.verifiedAt),
  };
}

/** The answer to a single send, by the status of its message: 200 sent, 202 queued, 502 failed. */
export function messageAnswer(record: MessageRecord, balance: number): SendAnswer {
  if (record.error !== null) {
    const { code, message } = record.error;
    const body: ErrorEnvelope = { error: { code, message, id: record.id } };
    return { status: serviceErrors[code as ServiceErrorCode].status, body };
  }
  return {
    status: record.status === 'sent' ? 200 : 202,
    body: Object.assign(messageResource(record), { balance }),
  };
}

export function batchAnswer(record: BatchRecord, balance: number): SendAnswer {
  return { status: 202, body: { ...batchResource(record), balance } };
}

/** An answer as it is stored with an idempotency key. */
export function bound({ status, body }: SendAnswer): { status: number; body: string } {
  return { status, body: JSON.stringify(body) };
}
