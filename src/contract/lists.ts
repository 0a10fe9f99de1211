import type {
  Batch,
  BatchStatus,
  Channel,
  DeliveryState,
  Message,
  MessageStatus,
  SuppressedRecipient,
} from './resources.js';

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
/** Each type of event. Later versions of the service may have more. */
export const eventTypes = [
  'message.sent',
  'message.failed',
  'message.delivery',
  'message.received',
  'batch.completed',
  'recipient.suppressed',
] as const;
/** What an event reports. */
export type EventType = (typeof eventTypes)[number];

/** An event with the data of its type. */
interface EventOf<Type extends EventType, Data> {
  /** The same each time it is read; as `after`, selects what came after it. */
  id: string;
  /** What happened. */
  type: Type;
  /** When, ISO 8601, UTC, milliseconds. Events come in the order of ids, not of times. */
  at: string;
  /** As it is when the event is read: what was erased since is not shown. */
  data: Data;
}

/** An incoming message; the inbox has its text. */
export interface ReceivedMessage {
  /** UUID. */
  id: string;
}

/** Something that happened in the project (GET /v1/events, an extension). */
export type UrtuuEvent =
  /** A message was accepted by a carrier or by none, or its delivery was reported. */
  | EventOf<'message.sent' | 'message.failed' | 'message.delivery', Message>
  /** Null once erased. A long text is reported with its first part, and again once it is whole. */
  | EventOf<'message.received', ReceivedMessage | null>
  /** Every message is sent or failed. */
  | EventOf<'batch.completed', Batch>
  /** Null if it was removed from the list since; `to` is empty once erased. */
  | EventOf<'recipient.suppressed', SuppressedRecipient | null>;

/** Events, oldest first. */
export interface EventPage {
  /** Up to `limit`. */
  data: UrtuuEvent[];
  /** Pass it as `after` to go on. It passes events of other types too. */
  next: string;
}

/** Selects events. */
export interface EventQuery {
  /**
   * The `next` of an earlier page, or the id of an event; `now` skips all so far. Default: the oldest event. A
   * project's first call begins to record them.
   */
  after?: string | undefined;
  /** Default: all. */
  types?: readonly EventType[] | undefined;
  /** Events per page, 1 to 1,000. Default 100. */
  limit?: number | undefined;
  /** Seconds to wait while there is none, 0 to 20. Default 0. */
  wait?: number | undefined;
}

/** The id of an event, which is the place behind it: a line, and a number in it. */
export const eventId = /^([0-9a-f]{12})-([0-9]{1,15})$/;
/** The value of `after` that skips all events so far. */
export const afterAll = 'now';
/** Seconds. */
export const longestEventWait = 20;
/** Calls of a project that wait at once in an instance; others are answered. */
export const mostWaiting = 4;
/** Days for which an event is kept; without a call for as long, no more are recorded. */
export const eventDays = 7;
