import type { Clock } from './clock.js';

export { type Clock, ManualClock, systemClock } from './clock.js';

export interface ServiceOptions {
  /** Folder of the durable data; created when missing. Without it everything is gone after `close()`. */
  directory?: string;
  clock?: Clock;
}

export interface ApiKey {
  id: string;
  created_at: string;
  revoked_at: string | null;
}

/** A message as the simulated operator or mail carrier delivered it. */
export interface Delivery {
  /** The message's id. */
  message_id: string;
  channel: 'sms' | 'email';
  to: string;
  /** The text as delivered: without links where the route carries none. */
  text: string | null;
  subject: string | null;
  html: string | null;
  from: string | null;
  reply_to: string | null;
  /** The route or operator that took it. */
  route: string;
  delivered_at: string;
}

/** What an owner of the data may do without the API. */
export interface Administration {
  /** A key of the default project; the secret is shown this once. */
  createKey(): Promise<ApiKey & { secret: string }>;
  listKeys(): Promise<ApiKey[]>;
  revokeKey(id: string): Promise<boolean>;
  /** Adds credits (negative takes them away, never below 0) and gives the new balance. */
  credit(amount: number): Promise<number>;
  /** Deliveries in their order, the oldest first. */
  outbox(filter?: { to?: string; limit?: number }): AsyncIterable<Delivery>;
  /** Empties everything but projects and keys, and restores the first balance. */
  reset(): Promise<void>;
  /** Resolves when no message is waiting for delivery that could be delivered now. */
  settled(): Promise<void>;
}

export interface Listening {
  /** Ends in `/v1`: the client's `baseUrl`. */
  url: string;
  /** Takes no new connection, answers what has arrived, then resolves. */
  close(): Promise<void>;
}

export interface Service {
  /** The whole service as a fetch function: what `new Urtuu(key, { fetch })` takes. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  listen(address?: { host?: string; port?: number }): Promise<Listening>;
  /** A key of the default project that lives in memory as long as this object and is stored nowhere. */
  readonly localKey: string;
  readonly administration: Administration;
  close(): Promise<void>;
}
