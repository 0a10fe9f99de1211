import type { MessageError, SuppressionReason } from '../../contract/index.js';
import type { Earlier } from './caps.js';
import type { BoundAnswer, Content, DeliveryState, Instant, MessageRecord } from './records.js';
import type { Tried, TriedRun } from './tried.js';

/** Milliseconds before its bound at which a message takes its next route, if a caller waits for it. */
export const nextRouteBefore = 7_000;
/** Milliseconds before its bound at which a message may be claimed as overdue: a single one to take its next route. */
export const overdueBefore = { single: nextRouteBefore, batch: 0 } as const;
/** Milliseconds after which a carrier may have given an id to another message. */
export const joinsWithin = 7 * 86_400_000;

/**
 * A queued message is in one of four states.
 *
 * - Waiting: due at some time, in a lane.
 * - Leased: claimed by a process for a time. A process that is late is refused the mark.
 * - Marked: leased, and a submission may be under way. The mark is the fence: it names the attempt, and no other
 *   process submits the message unless this attempt certainly did not reach the carrier.
 * - In doubt: marked, and its lease ended or the carrier did not answer. Its attempt may still finalize it, until it
 *   is finalized otherwise.
 */
export interface Dispatching {
  /**
   * Leases up to `limit` due messages, in the order in which they are to be sent; none during a reset. Projects take
   * turns, and so do the batches of a project, from one claim to the next, whichever process makes it. The messages
   * of a batch keep their order.
   */
  claimMessages(claim: MessageClaim): Promise<ClaimedMessage[]>;
  /**
   * Leases up to `limit` messages in doubt that are due for another attempt to resolve them. The doubt itself does
   * not change.
   */
  claimDoubts(claim: {
    token: string;
    leaseMs: number;
    limit: number;
    lane: string;
  }): Promise<ClaimedMessage[]>;
  /** Extends leases, including expired ones that were not ended yet; false for an ended lease. */
  renewLeases(tokens: readonly string[], leaseMs: number): Promise<boolean[]>;
  /**
   * Ends expired leases: marked messages fall into doubt, the others are due again. It reads the mark under the lock
   * with which `markSubmitting` writes it. An engine ends the leases of others only if it was itself connected for as
   * long as the lease lasted, or if it knows that their process has ended.
   */
  endLeases(): Promise<void>;

  /**
   * Marks messages before any of their bytes are sent to a carrier. False for a message that is no longer in its
   * token's lease, or whose lane is paused: it must not be submitted. The reason for one whose recipient is suppressed:
   * it stays in its lease, and fails. Marking the next attempt replaces the caller's own mark.
   */
  markSubmitting(marks: readonly Mark[]): Promise<Marked[]>;
  /**
   * Marks a leased message in doubt before its request is repeated. The repeat is a separate attempt: later reports
   * of earlier ones, such as that nothing was accepted, no longer hold. Null, without any change, if the message is
   * no longer in its lease, its lane is paused, the store is held, its recipient is suppressed, the mark has no request,
   * or the request was first sent over `withinMs` ago.
   */
  markRepeating(claimed: ClaimedMessage, withinMs: number): Promise<MarkedRepeat | null>;
  /** Returns messages that certainly were not submitted to the queue, without mark and lease. */
  postponeMessages(postponements: readonly Postponement[]): Promise<void>;
  /**
   * Puts marked messages in doubt: they may have been accepted or not. The next attempt to resolve them is after
   * `delayMs`.
   */
  leaveInDoubt(doubts: readonly { claimed: ClaimedMessage; delayMs: number }[]): Promise<void>;
  /**
   * Finishes messages as sent, or as failed and refunded, and updates the counters of their batches, the answers
   * bound to their keys, and earlier receipts. Null for a message that another process has fenced; it is not changed.
   */
  finalizeMessages(finalizations: readonly Finalization[], answer: AnswerOf): Promise<(Finalized | null)[]>;
  /**
   * Stores receipts, whether they match a message or not: see Receipt. Committed when it resolves, so that the
   * carrier may be acknowledged. A receipt that matches a message in doubt finalizes it as sent; these messages are
   * returned.
   */
  recordReceipts(receipts: readonly Receipt[], answer: AnswerOf): Promise<FinalizedDoubt[]>;

  /** When there is something to do, in milliseconds from now, 0 or less for at once; null for never. */
  nextWork(lanes: readonly string[]): Promise<{
    /** Until a message of the lanes is due. */
    messages: number | null;
    /** Until a message of the lanes is overdue, however much else waits before it. */
    overdue: number | null;
    /** Until the next attempt to resolve a doubt of the lanes. */
    doubts: number | null;
    /** Until a lease can be ended. */
    leases: number | null;
    /** Lanes that are paused. */
    paused: readonly string[];
  }>;
  /** Whether a message is leased or due. */
  hasDue(): Promise<boolean>;
  /** Those of these projects that have waiting messages in a lane. */
  findWaiting(lane: string, projectIds: readonly string[]): Promise<string[]>;
}

/** Single messages do not wait behind batches. */
export type MessageClass = 'single' | 'batch';

export interface MessageClaim {
  /** Unique to this claim. */
  token: string;
  leaseMs: number;
  limit: number;
  lane: string;
  class: MessageClass;
  /** The most messages of each project; projects that are not listed have no limit. */
  limits?: ReadonlyMap<string, number>;
  /** Only overdue messages, for a lane that submits nothing now. See `overdueBefore`. */
  onlyOverdue?: boolean;
}

export interface ClaimedMessage {
  /** The engine's own number of the message. */
  seq: number;
  message: MessageRecord;
  content: Content;
  /** Of the lease. */
  token: string;
  lane: string;
  /** The key whose answer is bound when the message is finalized. */
  pendingKey: string | null;
  /** The mark; its attempt is the fence. Null before the first submission, and after one that was not accepted. */
  mark: { attempt: number; route: string } | null;
  /** The highest attempt so far; the next mark is one higher. */
  attempts: number;
  /** Attempts that count for the wait before the next one. */
  tries: number;
  /** The answers to them, newest last. */
  tried: readonly TriedRun[];
  /** Milliseconds for which a carrier may still defer it; negative when they are over. */
  boundMs: number;
  /** Milliseconds within which the message may be sent at all, for a verification; null for no limit. */
  lifeMs: number | null;
  /** Milliseconds until an open doubt ends; null for a message that is not in doubt. */
  doubtMs: number | null;
  /**
   * Carrier ids of receipts that arrived before it was in doubt and belong to it: they repeat the end of its id and
   * arrived after its mark. Empty if there are none, and for an unmarked message.
   */
  receipts: readonly string[];
  /** Its batch was stopped: it must not be submitted any more. */
  isStopped: boolean;
  /**
   * For a message of a batch: when earlier messages to its recipient were accepted, as many as the highest cap needs;
   * Null for a message whose caps were checked when it was accepted.
   */
  earlier: Earlier | null;
}

/** Whether it is a message of a list: it lets others go first, and waits in quiet hours. */
export function isListMessage({ message, content }: Pick<ClaimedMessage, 'message' | 'content'>): boolean {
  return message.batchId !== null || content.isBulk === true;
}

export interface Mark {
  claimed: ClaimedMessage;
  /** One more than the highest attempt so far. */
  attempt: number;
  route: string;
  /**
   * How long the submission stays in doubt after its lease has expired: longer than the carrier's longest submission.
   */
  doubtMs: number;
  /** What a repeat sends, encrypted; absent if nothing may be repeated. */
  request?: Uint8Array | null;
}

export type Marked = boolean | SuppressionReason;

export interface MarkedRepeat {
  /** With the mark of the repeat. */
  claimed: ClaimedMessage;
  request: Uint8Array;
}

export interface Postponement {
  claimed: ClaimedMessage;
  delayMs: number;
  /** Whether it counts for the wait before the next attempt. */
  isTry: boolean;
  /** The answer to its attempt, to be stored. */
  answer?: Tried;
  /** The lane of its next route; the same lane if absent. */
  lane?: string;
}

export type Outcome =
  | {
      status: 'sent';
      /** One for each segment; empty if the carrier sends no receipts. */
      carrierIds: readonly string[];
      /** The delivery, if it is already known. */
      delivery: DeliveryState | null;
    }
  | { status: 'failed'; error: MessageError };

export interface Finalization {
  /** Fenced by its mark; without one, by its lease. */
  claimed: ClaimedMessage;
  outcome: Outcome;
  /** The answer to its last attempt, to be stored; absent if it was accepted. */
  answer?: Tried;
}

/** A finalized message and the balance at that time. */
export interface Finalized {
  message: MessageRecord;
  balance: number;
}

/** A message in doubt that a receipt has ended. */
export interface FinalizedDoubt extends Finalized {
  lane: string;
  pendingKey: string | null;
}

/** The answer to bind to the key of a finalized message; its body ends with the balance, if it has one. */
export type AnswerOf = (message: MessageRecord, balance: number) => BoundAnswer;

/**
 * A carrier's report about an accepted message, or a segment of one. Receipt and submission upsert one row for each
 * route, carrier id and recipient, so whichever arrives second is joined with the first. Carriers reuse ids, so they
 * are joined only within 7 days. A final state is never overwritten; `unknown` is.
 */
export interface Receipt {
  route: string;
  carrierId: string;
  /** A second id that it names, of which either may be the one in the answer to the submission. */
  otherId?: string | null;
  /** Normal form: its source address. */
  to: string;
  state: DeliveryState;
  /** Its own code of a failure. */
  code?: string | null;
  /**
   * The end of the message's id, as far as the carrier repeats it, for messages in doubt, whose carrier id is
   * unknown. It matches if it names exactly one message of the route to the recipient. Empty if the carrier repeats
   * nothing: the receipt then waits for an answer with its id, and matches no message in doubt.
   */
  reference: string;
  /**
   * The time of the submission by the carrier's clock, in any time zone: a message in doubt matches within 2 days.
   * Null if it is not given.
   */
  submittedAt: Instant | null;
}

/**
 * The delivery of a message in doubt that a receipt resolves, in addition to its receipts. If it has several parts,
 * other segments may not have been accepted, so it stays open for their receipts.
 */
export function deliveryInDoubt({ message }: ClaimedMessage): 'unknown' | null {
  return (message.parts ?? 1) > 1 ? 'unknown' : null;
}

/** The outcome of a message in doubt whose receipts arrived earlier; null if there were none. */
export function outcomeOfReceipts(claimed: ClaimedMessage): Outcome | null {
  const { receipts: carrierIds } = claimed;
  if (carrierIds.length === 0) return null;
  return { status: 'sent', carrierIds, delivery: deliveryInDoubt(claimed) };
}
