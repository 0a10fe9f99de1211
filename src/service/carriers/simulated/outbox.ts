import type { Channel } from '../../../contract/index.js';
import type { Submission } from '../carrier.js';

/** A message that the simulated operator delivered. */
export interface DeliveryRecord {
  messageId: string;
  channel: Channel;
  to: string;
  text: string | null;
  subject: string | null;
  html: string | null;
  from: string | null;
  replyTo: string | null;
  route: string;
  deliveredAt: number;
}

/** `limit` keeps the newest. */
export interface OutboxFilter {
  to?: string;
  limit?: number;
}

/** The deliveries and fences of the simulated operator, committed apart from the service's store. */
export interface Outbox {
  /** False when its attempt is fenced. */
  deliver(submission: Submission): Promise<boolean>;
  /** Milliseconds since a message was delivered; null when it was not, and then no attempt below `before` will be. */
  ageOrFence(reference: string, before: number): Promise<number | null>;
  /** Deliveries in their order, the oldest first. */
  read(filter: OutboxFilter): AsyncIterable<DeliveryRecord>;
  /** The deliveries of messages. */
  find(messageIds: readonly string[]): Promise<DeliveryRecord[]>;
  /** Forgets the deliveries of messages. */
  forget(messageIds: readonly string[]): Promise<void>;
  /** How many deliveries were of a message that had been delivered before: 0 unless the service is wrong. */
  repeats(): Promise<number>;
  /** Whether a name is new; from then on it is not, until a reset. */
  isFirst(name: string): Promise<boolean>;
  /** Forgets everything but the fences that hold for every attempt. */
  reset(): Promise<void>;
  close(): Promise<void>;
}
