import type { Batch, BatchStatus, Channel, DeliveryState, Message, MessageStatus } from './resources.js';

/** One page of a list. */
export interface Page<Item> {
  data: Item[];
  /** Pass it as `after` to read the next page; null on the last. */
  next: string | null;
}
export type MessagePage = Page<Message>;
export type BatchPage = Page<Batch>;

export interface PageOptions {
  /** Items per page, 1 to 1,000. Default 100. */
  limit?: number | undefined;
  /** The `next` of the previous page. */
  after?: string | undefined;
}

interface TimeFilter {
  /** Created at or after this time, ISO 8601. */
  since?: string | undefined;
  /** Created before this time, ISO 8601. */
  until?: string | undefined;
}

/** Filters of GET /v1/messages, an extension; an item matches all of them. */
export interface MessageFilter extends TimeFilter {
  /** A phone number or an email address, in any spelling. */
  to?: string | undefined;
  channel?: Channel | undefined;
  status?: MessageStatus | undefined;
  delivery?: DeliveryState | undefined;
  /** UUID of the batch that the messages belong to. */
  batch_id?: string | undefined;
}

/** Filters of GET /v1/batches, an extension; an item matches all of them. */
export interface BatchFilter extends TimeFilter {
  channel?: Channel | undefined;
  status?: BatchStatus | undefined;
}
