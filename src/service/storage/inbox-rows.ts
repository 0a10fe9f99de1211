import type { InboxRecord } from './inbox.js';
import type { SuppressionRecord } from './suppressions.js';

export interface InboxRow {
  seq: number;
  id: string;
  channel: InboxRecord['channel'];
  sender: string;
  recipient: string;
  subject: string | null;
  text: string;
  received_at: number;
}

export function toInboxRecord(row: InboxRow, projectId: string): InboxRecord {
  const { id, channel, sender: from, recipient: to, subject, text, received_at: receivedAt } = row;
  return { id, projectId, channel, from, to, subject, text, receivedAt };
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
