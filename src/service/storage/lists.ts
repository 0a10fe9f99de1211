import type { BatchStatus, Channel, DeliveryState, MessageStatus } from '../../contract/index.js';
import type { Instant } from './records.js';

/** A filter takes every record where it is null. */
export interface BatchFilter {
  channel: Channel | null;
  status: BatchStatus | null;
  /** On the creation time: the first instant taken, and the first not taken. */
  since: Instant | null;
  until: Instant | null;
}

export interface MessageFilter extends Omit<BatchFilter, 'status'> {
  status: MessageStatus | null;
  /** Normal form. */
  to: string | null;
  delivery: DeliveryState | null;
  batchId: string | null;
}

export interface Page {
  limit: number;
  /** The `next` of the page before. */
  after: string | null;
}

/** `next` is null on the last page. A page that has one may have fewer records than its limit, or none. */
export interface Listed<Item> {
  records: Item[];
  next: string | null;
}
