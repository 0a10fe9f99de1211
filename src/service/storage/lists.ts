import type { BatchStatus, Channel, DeliveryState, MessageStatus } from '../../contract/index.js';
import type { Instant } from './records.js';

/** Null fields match every record. */
export interface BatchQuery {
  channel: Channel | null;
  status: BatchStatus | null;
  /** On the creation time: the first instant included, and the first excluded. */
  since: Instant | null;
  until: Instant | null;
}

/** Of received messages, `since` and `until` are about the time of receipt. */
export type InboxQuery = Omit<BatchQuery, 'status'>;

export interface MessageQuery extends InboxQuery {
  status: MessageStatus | null;
  /** Normal form. */
  to: string | null;
  delivery: DeliveryState | null;
  batchId: string | null;
}

export interface PageRequest {
  limit: number;
  /** The `next` of the previous page. */
  after: string | null;
}

/** Characters of texts after which a page ends: clients read at most 10 MiB, and one may need six bytes in JSON. */
export const longestPage = 1_000_000;

/** `next` is null on the last page. A page with one may have fewer records than its limit, or none. */
export interface Listed<Item> {
  records: Item[];
  next: string | null;
}
