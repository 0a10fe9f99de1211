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
  /** Created at or after this time, ISO 8601. */
  since?: string | undefined;
  /** Created before this time, ISO 8601. */
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
  /** The same each time the event is read. Pass it as `after` to read what came after it. */
  id: string;
  /** What happened. */
  type: Type;
  /** When, ISO 8601, UTC, milliseconds. Events are in the order of their ids, not of their times. */
  at: string;
  /** As it is when the event is read, not as it was at `at`: what was erased since is not shown. */
  data: Data;
}

/** An incoming message; the inbox has its text. */
export interface ReceivedMessage {
  /** UUID. */
  id: string;
}

/** Something that happened in the project (GET /v1/events, an extension). */
export type UrtuuEvent =
  /** A carrier has accepted a message, or none would; or there is a new report about its delivery. */
  | EventOf<'message.sent' | 'message.failed' | 'message.delivery', Message>
  /** A message came in; null once erased. A long text is reported when its first part comes, and again when whole. */
  | EventOf<'message.received', ReceivedMessage | null>
  /** Every message of a batch is sent or failed. */
  | EventOf<'batch.completed', Batch>
  /** A recipient is sent nothing more. Its `to` is empty once erased; null if it is sent to again. */
  | EventOf<'recipient.suppressed', SuppressedRecipient | null>;

/** Events, oldest first. */
export interface EventPage {
  /** Up to `limit`; none if nothing happened in time. */
  data: UrtuuEvent[];
  /** Pass it as `after` to go on. It is also after whatever `types` left out, so it changes without any data. */
  next: string;
}

/** Selects events. */
export interface EventQuery {
  /**
   * The `next` of an earlier page, or the id of an event. `now` skips all events so far and answers at once. Default: the
   * oldest event that is kept; the first call of a project begins with what happens from then on.
   */
  after?: string | undefined;
  /** Default: all types. */
  types?: readonly EventType[] | undefined;
  /** Events per page, 1 to 1,000. Default 100. */
  limit?: number | undefined;
  /** Seconds to wait for an event if there is none, 0 to 20. Default 0. */
  wait?: number | undefined;
}

/** The value of `after` that skips all events so far. */
export const afterAll = 'now';
/** Seconds that a call may wait for an event. */
export const longestEventWait = 20;
/** Calls of a project that an instance lets wait; it answers others at once. */
export const mostWaiting = 4;
/** Days for which an event is kept, and after which a project that nobody asks about records none. */
export const eventDays = 7;
