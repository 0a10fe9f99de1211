import type { BatchStatus, Channel, MessageError, MessageStatus } from '../../contract/index.js';
import type { Caps } from './caps.js';

/** Milliseconds since 1970, UTC. Every time in the store is one. */
export type Instant = number;

export interface ProjectRecord {
  id: string;
  name: string;
  balance: number;
  /** Settings that differ from the defaults, as JSON text. */
  settings: string;
  createdAt: Instant;
}

export interface KeyRecord {
  id: string;
  projectId: string;
  /** SHA-256 of the secret. */
  hash: Uint8Array;
  createdAt: Instant;
  revokedAt: Instant | null;
}

/** Why the balance changed; the amounts of a project's entries add up to its balance. */
export type LedgerReason = 'opening' | 'credit' | 'message' | 'batch' | 'verification' | 'refund';

export interface LedgerRecord {
  amount: number;
  reason: LedgerReason;
  /** The message, batch or verification it was for. */
  subjectId: string | null;
  createdAt: Instant;
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
  credits: number;
  createdAt: Instant;
  completedAt: Instant | null;
}

export interface VerificationRecord {
  id: string;
  /** As last stored; a pending one may have expired since. */
  status: 'pending' | 'verified' | 'failed';
  channel: Channel;
  to: string;
  attemptsRemaining: number;
  credits: number;
  codeHash: Uint8Array;
  createdAt: Instant;
  expiresAt: Instant;
  verifiedAt: Instant | null;
}

/** What a message says; a batch has one for all its messages. */
export interface Content {
  text: string | null;
  html: string | null;
  subject: string | null;
  from: string | null;
  replyTo: string | null;
  /** An encrypted text, erased when its message is settled. */
  sealed: Uint8Array | null;
}

/** The final answer of a send, bound to its idempotency key. */
export interface BoundAnswer {
  status: number;
  /** JSON text. */
  body: string;
}

/** The right to hand messages over, until a time. Its token is unique to one claim. */
export interface Lease {
  token: string;
  until: Instant;
}

export interface MessageAcceptance {
  /** As it is queued. */
  message: MessageRecord;
  content: Content;
  idempotencyKey: string | null;
  caps: Caps;
  /** Set when the caller itself hands the message over; otherwise it is due at once. */
  lease: Lease | null;
  /** The answer to bind now, given the balance that is left; null to bind it when the message is settled. */
  answer: ((balance: number) => BoundAnswer) | null;
}

export interface BatchAcceptance {
  projectId: string;
  /** As it begins; its `credits` are charged. */
  batch: BatchRecord;
  content: Content;
  idempotencyKey: string | null;
  recipients: readonly { id: string; to: string; operator: string | null }[];
  /** Set when the caller itself hands the messages over; otherwise they are due at once. */
  lease: Lease | null;
  /** What is the same for every message of it. */
  each: { parts: number | null; rateMultiplier: number | null; credits: number };
  answer: (balance: number) => BoundAnswer;
}

export interface VerificationAcceptance extends MessageAcceptance {
  verification: { id: string; codeHash: Uint8Array; attempts: number; expiresAt: Instant };
}

export type AcceptResult =
  | { kind: 'accepted'; balance: number }
  /** The key is taken; `answer` is null while its first request is still running. */
  | { kind: 'repeat'; answer: BoundAnswer | null }
  /** A cap is reached until `until`. */
  | { kind: 'capped'; until: Instant }
  | { kind: 'insufficient'; balance: number }
  /** A reset is under way: ask again when it is over. */
  | { kind: 'resetting' };

export type BatchResult =
  | Exclude<AcceptResult, { kind: 'accepted' | 'capped' }>
  /** `earlier`, by recipient: as of claimed messages; empty without a lease. */
  | { kind: 'accepted'; balance: number; earlier: ReadonlyMap<string, Instant[]> };

export interface ClaimedMessage {
  message: MessageRecord;
  content: Content;
  lease: Lease;
  /** The key whose answer is bound when the message is settled. */
  pendingKey: string | null;
  /** Claims so far, this one included: over 1, an earlier one may have handed it over. */
  attempts: number;
  /**
   * Of a batch's message: when earlier messages to its recipient were accepted, the newest first, as many as
   * the highest cap needs; null for a message whose caps were checked when it was accepted.
   */
  earlier: Instant[] | null;
}

export type Outcome = { status: 'sent' } | { status: 'failed'; error: MessageError };

export interface Settlement {
  claimed: ClaimedMessage;
  outcome: Outcome;
  at: Instant;
}

/** A settled message and the balance then. */
export interface Settled {
  message: MessageRecord;
  balance: number;
}

/**
 * Everything the service remembers. Each method is one durable transaction: what it resolves to has been
 * committed, what it rejects has not happened. Several processes may use one store at once; nothing is true
 * in memory only. Every query is confined to the project it names.
 */
export interface Store {
  /** False when a project with this id is there already. */
  createProject(project: Omit<ProjectRecord, 'settings'>): Promise<boolean>;
  getProject(id: string): Promise<ProjectRecord | null>;
  listProjects(): Promise<ProjectRecord[]>;
  /** Gives the settings as they are stored afterwards. */
  changeSettings(projectId: string, change: (settings: string) => string): Promise<string>;
  /** Adds credits; a negative amount takes as many as there are. Gives the new balance. */
  credit(projectId: string, amount: number, at: Instant): Promise<number>;
  listLedger(projectId: string): Promise<LedgerRecord[]>;
  /**
   * Holds everything new back until `until`, in every process: nothing is accepted and nothing claimed. Again by the
   * same owner, it holds it back for longer. False while another owner does.
   */
  beginReset(owner: string, at: Instant, until: Instant): Promise<boolean>;
  /**
   * Forgets everything but projects, their settings and keys, and opens every balance anew. Gives the messages that
   * somebody may still be submitting. `until`: how long a reset goes on to hold everything back.
   */
  reset(balance: number, at: Instant, until: () => Instant): Promise<{ id: string; to: string }[]>;
  endReset(owner: string): Promise<void>;

  /** False when the project already has `maxActive` keys that are not revoked. */
  addKey(key: KeyRecord, maxActive: number): Promise<boolean>;
  listKeys(projectId: string): Promise<KeyRecord[]>;
  /** False when there is no such active key. */
  revokeKey(projectId: string, id: string, at: Instant): Promise<boolean>;
  findKey(hash: Uint8Array): Promise<KeyRecord | null>;

  /** `undefined` when the key is free, null while its first request is running. */
  findAnswer(projectId: string, idempotencyKey: string): Promise<BoundAnswer | null | undefined>;
  /** Checks key, caps and funds in this order, then charges and stores; a refusal stores nothing. */
  acceptMessage(acceptance: MessageAcceptance): Promise<AcceptResult>;
  acceptBatch(acceptance: BatchAcceptance): Promise<BatchResult>;
  acceptVerification(acceptance: VerificationAcceptance): Promise<AcceptResult>;

  /** Leases up to `limit` messages that are due, the longest waiting first; none during a reset. */
  claimMessages(claim: { lease: Lease; now: Instant; limit: number }): Promise<ClaimedMessage[]>;
  /** Lengthens leases; false stands for one that was lost. */
  renewLeases(tokens: readonly string[], until: Instant): Promise<boolean[]>;
  /** Gives leases back: the message is due again at `at`. */
  postponeMessages(messages: readonly { messageId: string; token: string; at: Instant }[]): Promise<void>;
  /**
   * Ends messages: sent, or failed and refunded, with the counters of their batches and the answers bound to
   * their keys. Null stands for a message whose lease was lost; it is left as it is.
   */
  settleMessages(
    settlements: readonly Settlement[],
    answer: (message: MessageRecord, balance: number) => BoundAnswer,
  ): Promise<(Settled | null)[]>;
  /** When, seen from `now`, the next message is due or its lease ends; null when none is queued. */
  nextDue(now: Instant): Promise<Instant | null>;
  /** True while a message is leased to anyone, or due at `now`. */
  hasDue(now: Instant): Promise<boolean>;

  getMessage(projectId: string, id: string): Promise<MessageRecord | null>;
  getBatch(projectId: string, id: string): Promise<BatchRecord | null>;
  /** In the order of acceptance, from behind `after`; null when batch or `after` is not there. */
  listBatchMessages(
    projectId: string,
    batchId: string,
    page: { limit: number; after: string | null },
  ): Promise<MessageRecord[] | null>;

  getVerification(projectId: string, id: string): Promise<VerificationRecord | null>;
  /**
   * Tries a code on a pending, unexpired verification: right, it is verified; wrong, one attempt less, and at
   * none left it has failed. `tried` is false when it was closed already.
   */
  checkVerification(
    projectId: string,
    id: string,
    at: Instant,
    matches: (codeHash: Uint8Array) => boolean,
  ): Promise<{ tried: boolean; verification: VerificationRecord } | null>;

  close(): Promise<void>;
}
