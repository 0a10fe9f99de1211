import type { Channel, MessageStatus } from '../../../contract/index.js';
import type { BatchRecord, BoundAnswer, DeliveryState, MessageRecord } from '../records.js';

/** A message row, with the ids of its project and batch. */
export interface MessageRow {
  seq: number;
  id: string;
  project: number;
  batch: number | null;
  batch_id: string | null;
  channel: Channel;
  recipient: string;
  operator: string | null;
  status: MessageStatus;
  parts: number | null;
  rate_multiplier: number | null;
  credits: number;
  error_code: string | null;
  error_message: string | null;
  delivery: DeliveryState | null;
  created_at: number;
  sent_at: number | null;
}

/** Null while the first request with the key is running. */
export function boundOf(status: number | null, body: string | null): BoundAnswer | null {
  return status === null || body === null ? null : { status, body };
}

export const selectMessage =
  'SELECT m.*, b.id AS batch_id FROM messages m LEFT JOIN batches b ON b.seq = m.batch';

export function toMessage(row: MessageRow, projectId: string): MessageRecord {
  return {
    id: row.id,
    projectId,
    batchId: row.batch_id,
    channel: row.channel,
    to: row.recipient,
    operator: row.operator,
    status: row.status,
    parts: row.parts,
    rateMultiplier: row.rate_multiplier,
    credits: row.credits,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    delivery: row.delivery,
    createdAt: row.created_at,
    sentAt: row.sent_at,
  };
}

export interface BatchRow {
  seq: number;
  id: string;
  channel: Channel;
  total: number;
  sent: number;
  failed: number;
  unknown: number;
  credits: number;
  first_message: number;
  created_at: number;
  completed_at: number | null;
  pruned_at: number | null;
}

export function toBatch(row: BatchRow): BatchRecord {
  return {
    id: row.id,
    status: row.completed_at === null ? 'processing' : 'completed',
    channel: row.channel,
    total: row.total,
    sent: row.sent,
    failed: row.failed,
    unknown: row.unknown,
    credits: row.credits,
    createdAt: row.created_at,
    completedAt: row.completed_at,
    prunedAt: row.pruned_at,
  };
}
