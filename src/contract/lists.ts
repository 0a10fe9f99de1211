import type { Batch, BatchStatus, Channel, DeliveryState, Message, MessageStatus } from './resources.js';

/** One page of a list. */
export interface Page<Item> {
  /** The items, up to `limit`; a page may be empty and still have a next one. */
  data: Item[];
  /** Pass it as `after` to read the next page; null on the last page. */
  next: string | null;
}
/** One page of messages. */
export type MessagePage = Page<Message>;
/** One page of batches. */
export type BatchPage = Page<Batch>;

/** Selects a page of a list. */
export interface PageOptions {
  /** Items per page, 1 to 1,000. Default 100. */
  limit?: number | undefined;
  /** The `next` of the previous page. */
  after?: string | undefined;
}

/** Filters of every list. */
interface TimeFilter {
  /** At or after this time, ISO 8601. */
  since?: string | undefined;
  /** Before this time, ISO 8601. */
  until?: string | undefined;
}

/** Filters of GET /v1/messages, an extension; an item matches all of them. */
export interface MessageFilter extends TimeFilter {
  /** A phone number or an email address, in any spelling. */
  to?: string | undefined;
  /** Default: either. */
  channel?: Channel | undefined;
  /** Default: any. */
  status?: MessageStatus | undefined;
  /** The carrier's report. Default: any, or none. */
  delivery?: DeliveryState | undefined;
  /** UUID of the messages' batch. */
  batch_id?: string | undefined;
}

/** Filters of GET /v1/batches, an extension; an item matches all of them. */
export interface BatchFilter extends TimeFilter {
  /** Default: either. */
  channel?: Channel | undefined;
  /** Default: any. */
  status?: BatchStatus | undefined;
}

/** Filters of GET /v1/inbox, an extension; an item matches all of them. */
export type InboxFilter = Omit<BatchFilter, 'status'>;
