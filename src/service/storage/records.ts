import type {
  BatchStatus,
  Channel,
  DeliveryState,
  MessageError,
  MessageStatus,
} from '../../contract/index.js';

export type { DeliveryState };

/** Milliseconds since 1970, UTC, on the engine's clock. */
export type Instant = number;

export interface ProjectRecord {
  id: string;
  name: string;
  balance: number;
  /** Settings that differ from the defaults, as JSON. */
  settings: string;
  createdAt: Instant;
}

export interface KeyRecord {
  id: string;
  projectId: string;
  /** SHA-256 of the secret. */
  hash: Uint8Array;
  /** First characters of the secret; null for a key of an older release. */
  prefix: string | null;
  label: string | null;
  /** The session of the dashboard that made it, as `listSignIns` names it; null for any other key. */
  createdBy: string | null;
  scope: readonly KeyScope[];
  /** When it expires. */
  expiresAt: Instant | null;
  createdAt: Instant;
  revokedAt: Instant | null;
  /** Accurate to about a minute; null for a key that was never used. */
  usedAt: Instant | null;
}

/** `send`: every POST; `read`: every GET, without what people wrote; `inbox`: the inbox with its texts, and the outbox. */
export type KeyScope = 'send' | 'read' | 'inbox';

/** A key that is not stored yet. */
export interface NewKey
  extends Omit<KeyRecord, 'createdAt' | 'createdBy' | 'revokedAt' | 'usedAt' | 'expiresAt'> {
  createdBy?: string | null;
  /** At an instant, or after that many milliseconds; null for never. */
  expiry: { at: Instant } | { afterMs: number } | null;
}

/** Why the balance changed. The amounts of a project's entries add up to its balance. */
export type LedgerReason = 'opening' | 'credit' | 'message' | 'batch' | 'verification' | 'refund';

export interface LedgerRecord {
  amount: number;
  reason: LedgerReason;
  /** The message, batch or verification it paid for; the id of a credit. */
  subjectId: string | null;
  note: string | null;
  createdAt: Instant;
}

/** `before`: the `next` of the previous page, or null. */
export interface LedgerPageRequest {
  limit: number;
  before: number | null;
}

/** `next` is null on the last page. A page with one may have fewer records than its limit, or none. */
export interface LedgerPage {
  records: LedgerRecord[];
  next: number | null;
}

export interface MessageRecord {
  id: string;
  projectId: string;
  batchId: string | null;
  channel: Channel;
  /** Normal form. */
  to: string;
  /** Operator of the number; null for an email. */
  operator: string | null;
  status: MessageStatus;
  parts: number | null;
  rateMultiplier: number | null;
  credits: number;
  error: MessageError | null;
  /** Null without a report. */
  delivery: DeliveryState | null;
  /** The carrier's own code, if it failed; only read with `getMessage` and the lists. */
  carrierCode?: string | undefined;
  createdAt: Instant;
  sentAt: Instant | null;
}

export interface BatchRecord {
  id: string;
  status: BatchStatus;
  channel: Channel;
  total: number;
  sent: number;
  failed: number;
  /** How many of `sent` have an unknown delivery now. */
  unknown: number;
  credits: number;
  createdAt: Instant;
  completedAt: Instant | null;
  /** When its last message was pruned. */
  prunedAt: Instant | null;
}

export interface VerificationRecord {
  id: string;
  /** `expired` if it was still pending at `expiresAt`. */
  status: 'pending' | 'verified' | 'failed' | 'expired';
  channel: Channel;
  to: string;
  attemptsRemaining: number;
  credits: number;
  codeHash: Uint8Array;
  createdAt: Instant;
  expiresAt: Instant;
  verifiedAt: Instant | null;
}

/** The verification whose code a message contains. */
export interface VerificationOfMessage {
  messageId: string;
  id: string;
  codeHash: Uint8Array;
}

/** The content of a message, or of all messages of a batch. */
export interface Content {
  text: string | null;
  html: string | null;
  subject: string | null;
  from: string | null;
  replyTo: string | null;
  /** An encrypted text, erased when its message is finalized. */
  encrypted: Uint8Array | null;
  /** Of a list, although its message is a single one. */
  isBulk?: boolean;
}

/** The final answer to a send, bound to its idempotency key. */
export interface BoundAnswer {
  status: number;
  /** JSON text. */
  body: string;
}

/**
 * Why the store is held: it was restored from a backup or loaded from a dump, or the timeline of PostgreSQL has
 * changed, after a failover or a recovery. In any case it may lack a record of messages that were sent.
 */
export type HoldReason = 'restored' | 'failed_over';

/** Messages that are not final. */
export interface Unfinished {
  messages: number;
  /** How many of them are marked: they may have been submitted. */
  submitting: number;
}
