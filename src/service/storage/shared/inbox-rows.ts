import { type InboxRecord, partsWithin } from '../inbox.js';
import type { Instant } from '../records.js';
import type { SuppressionRecord } from '../suppressions.js';

export interface InboxRow {
  seq: number;
  id: string;
  channel: InboxRecord['channel'];
  sender: string;
  recipient: string;
  subject: string | null;
  text: string;
  received_at: number;
  /** The parts of a text that have arrived, in order; SQLite stores them as JSON. */
  parts: (string | null)[] | string | null;
}

export function toInboxRecord(row: InboxRow, projectId: string, now: Instant): InboxRecord {
  const { id, channel, sender: from, recipient: to, subject, text, received_at: receivedAt } = row;
  const parts = typeof row.parts === 'string' ? (JSON.parse(row.parts) as (string | null)[]) : row.parts;
  const waitsForParts = receivedAt > now - partsWithin && parts?.includes(null) === true;
  return { id, projectId, channel, from, to, subject, text, receivedAt, waitsForParts };
}

export interface SuppressionRow {
  seq: number;
  recipient: string;
  reason: string;
  created_at: number;
}

export function toSuppression({ recipient, reason, created_at }: SuppressionRow): SuppressionRecord {
  return { to: recipient, reason, createdAt: created_at };
}
