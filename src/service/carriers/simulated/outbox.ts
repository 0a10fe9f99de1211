import type { Submission } from '../carrier.js';

/** A message that the simulated operator delivered. */
export interface DeliveryRecord
  extends Pick<Submission, 'channel' | 'to' | 'text' | 'subject' | 'html' | 'from' | 'replyTo' | 'route'> {
  messageId: string;
  deliveredAt: number;
}

export interface OutboxFilter {
  /** In normal form, and compared as recipients are. */
  to?: string;
  /** Keeps the newest. */
  limit?: number;
  /** Only what was delivered after this message; nothing if it was not delivered. Not beside the others below. */
  after?: string;
  /** Looks at the newest 30,000 only, so that a recipient who has none costs no more. */
  isNewestFirst?: boolean;
}

/** Deliveries read at once: each may be an email of 256 KB. */
export const outboxPage = 100;
export const outboxDepth = 30_000;

/** The deliveries and fences of the simulated operator, committed separately from the service's store. */
export interface Outbox {
  /** False if its attempt is fenced. */
  deliver(submission: Submission): Promise<boolean>;
  /**
   * Milliseconds since a message was delivered; null if it was not, and then no attempt below `before` will be
   * delivered.
   */
  ageOrFence(reference: string, before: number): Promise<number | null>;
  /** Deliveries, oldest first unless the filter says otherwise. Later ones come after all that it shows. */
  read(filter: OutboxFilter): AsyncIterable<DeliveryRecord>;
  /** The deliveries of messages. */
  find(messageIds: readonly string[]): Promise<DeliveryRecord[]>;
  /** Forgets the deliveries of messages. */
  forget(messageIds: readonly string[]): Promise<void>;
  /** How many deliveries were repeats of a message: 0 unless the service has a bug. */
  repeats(): Promise<number>;
  /** True once for a name, until a reset. */
  isFirst(name: string): Promise<boolean>;
  /** Deletes everything except the fences for all attempts. */
  reset(): Promise<void>;
  close(): Promise<void>;
}
