import type { Channel, SuppressionReason } from '../../contract/index.js';
import type { Caps } from './caps.js';
import type { ClaimedMessage } from './dispatching.js';
import type { BatchRecord, BoundAnswer, Content, MessageRecord, VerificationRecord } from './records.js';

/** The accepting process's right to submit at once: a lease, and the mark of the first attempt. */
export interface AcceptanceClaim {
  /** Unique to this claim. */
  token: string;
  leaseMs: number;
  /** How long a submission stays in doubt once its lease has ended. */
  doubtMs: number;
}

/** One recipient of a send, in normal form, and its first route. */
export interface AcceptedRecipient {
  id: string;
  to: string;
  operator: string | null;
  lane: string;
  route: string;
}

interface Acceptance {
  projectId: string;
  channel: Channel;
  /** Of each message. */
  parts: number | null;
  rateMultiplier: number | null;
  credits: number;
  content: Content;
  idempotencyKey: string | null;
  /**
   * Only set if the carrier has room for every message now: they are leased to the caller and marked as submitted
   * over their first route in the same transaction. Otherwise they are due at once.
   */
  claim: AcceptanceClaim | null;
  /** Milliseconds from acceptance within which a carrier may defer the message. */
  boundMs: number;
}

export interface MessageAcceptance extends Acceptance {
  recipient: AcceptedRecipient;
  caps: Caps;
  /**
   * The answer to bind now; null to bind it when the message is finalized. It depends only on the stored message and
   * on the remaining balance, which ends its body: `...,"balance":123}`.
   */
  answer: ((message: MessageRecord, balance: number) => BoundAnswer) | null;
}

export interface BatchAcceptance extends Acceptance {
  batchId: string;
  recipients: readonly AcceptedRecipient[];
  answer: (batch: BatchRecord, balance: number) => BoundAnswer;
}

export interface VerificationAcceptance extends MessageAcceptance {
  verification: { id: string; codeHash: Uint8Array; attempts: number; lifeMs: number };
}

export type Refusal =
  /** The key is in use; `answer` is null while its first request is still running. */
  | { kind: 'repeat'; answer: BoundAnswer | null }
  /** A cap is reached, for that many milliseconds. */
  | { kind: 'capped'; waitMs: number }
  | { kind: 'insufficient'; balance: number }
  /** Of a batch, the mark of the message says it. */
  | { kind: 'suppressed'; reason: SuppressionReason }
  /** A reset is running: try again when it is over. */
  | { kind: 'resetting' }
  /** Nothing is accepted while the store is held: see Holding. */
  | { kind: 'held' };

interface Accepted {
  kind: 'accepted';
  balance: number;
  /** The messages, marked for the caller; empty without a claim. */
  claimed: ClaimedMessage[];
}

export type AcceptResult = Refusal | (Accepted & { message: MessageRecord });
export type BatchResult = Refusal | (Accepted & { batch: BatchRecord });
export type VerificationResult =
  | Refusal
  | (Accepted & { message: MessageRecord; verification: VerificationRecord });
