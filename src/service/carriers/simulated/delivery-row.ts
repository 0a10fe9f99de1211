import type { Channel } from '../../../contract/index.js';
import type { DeliveryRecord } from './outbox.js';

/** As every engine stores it. */
export interface DeliveryRow {
  seq: number;
  reference: string;
  channel: Channel;
  recipient: string;
  text: string | null;
  subject: string | null;
  html: string | null;
  sender: string | null;
  reply_to: string | null;
  route: string;
  delivered_at: number;
}

export function toRecord(row: DeliveryRow): DeliveryRecord {
  return {
    messageId: row.reference,
    channel: row.channel,
    to: row.recipient,
    text: row.text,
    subject: row.subject,
    html: row.html,
    from: row.sender,
    replyTo: row.reply_to,
    route: row.route,
    deliveredAt: row.delivered_at,
  };
}
