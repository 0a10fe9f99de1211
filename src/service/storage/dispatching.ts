import type { MessageError } from '../../contract/index.js';
import type { BoundAnswer, Content, DeliveryState, Instant, MessageRecord } from './records.js';
import type { Tried, TriedRun } from './tried.js';

/** Milliseconds before its bound at which a message that somebody waits for takes its next route. */
export const nextRouteBefore = 7_000;
/** Milliseconds before its bound from which on a message is claimed as overdue: a single one for its next route. */
export const overdueBefore = { single: nextRouteBefore, batch: 0 } as const;

/** Milliseconds, and the newest messages of all, within which a project has work on a lane that it has sent to. */
export const lately = { ms: 5_000, messages: 1_000 } as const;

/**
 * A queued message is in one of four states.
 *
 * - Waiting: due at some time, in a lane.
 * - Leased: claimed by a process for a time. Time is a courtesy: whoever is late is refused the mark.
 * - Marked: leased, and a submission may be under way. The mark is the fence: it names the attempt, and no other
 *   process submits the message unless this attempt certainly did not reach the carrier.
 * - In doubt: marked, and its lease ended or the carrier did not answer. Its attempt may still finalize it, until it
 *   is finalized otherwise.
 */
export interface Dispatching {
  /**
   * Leases up to `limit` waiting messages that are due, in the order in which they are to go out; none during a reset.
   * Projects take turns, and within a project its batches, from one claim to the next, whoever makes them. The messages
   * of a batch keep their order.
   */
  claimMessages(claim: MessageClaim): Promise<ClaimedMessage[]>;
  /** Leases up to `limit` messages in doubt that are due to be looked into, which changes nothing of their doubt. */
  claimDoubts(claim: {
    token: string;
    leaseMs: number;
    limit: number;
    lane: string;
  }): Promise<ClaimedMessage[]>;
  /** Lengthens leases, also those that are over and not yet ended; false stands for one that was ended. */
  renewLeases(tokens: readonly string[], leaseMs: number): Promise<boolean[]>;
  /**
   * Ends leases that are over: what is marked falls into doubt, the rest is due again. Both read the mark under the
   * same lock that `markSubmitting` writes it under. An engine ends the leases of others only after it was itself
   * connected for as long as the lease was to last, or when it knows that their process is gone.
   */
  endLeases(): Promise<void>;

  /**
   * Marks messages before any byte of them goes to a carrier. False stands for one that is no longer in the lease of
   * its token, or whose lane is paused: it must not be submitted. A mark with the next attempt replaces the caller's own.
   */
  markSubmitting(marks: readonly Mark[]): Promise<boolean[]>;
  /**
   * Marks a leased message in doubt before the request of its mark goes out once more. That is an attempt of its own: what
   * an earlier one still reports, as that nothing was taken, is no longer true. Null, and nothing changes, where it is no
   * longer in its lease, its lane is paused, the store is held, the mark has no request, or a request of the message first
   * went out over `withinMs` ago.
   */
  markRepeating(claimed: ClaimedMessage, withinMs: number): Promise<MarkedRepeat | null>;
  /** Takes messages back that certainly were not submitted: clears mark and lease, and they wait again. */
  postponeMessages(postponements: readonly Postponement[]): Promise<void>;
  /** Puts marked messages in doubt: neither taken nor not taken for all that is known. Looked into after `delayMs`. */
  leaveInDoubt(doubts: readonly { claimed: ClaimedMessage; delayMs: number }[]): Promise<void>;
  /**
   * Ends messages: sent, or failed and refunded, with the counters of their batches, the answers bound to their keys
   * and the receipts that came before. Null stands for a message whose fence another has passed; it is left as it is.
   */
  finalizeMessages(finalizations: readonly Finalization[], answer: AnswerOf): Promise<(Finalized | null)[]>;
  /**
   * Stores receipts, joined or not: see Receipt. Committed when it resolves, so that the carrier may acknowledge. One
   * that joins a message in doubt finalizes it as sent: those are returned.
   */
  recordReceipts(receipts: readonly Receipt[], answer: AnswerOf): Promise<FinalizedDoubt[]>;

  /** When there is something to do, in milliseconds from now, 0 or less for at once; null for never. */
  nextWork(lanes: readonly string[]): Promise<{
    /** Until a message of the lanes is due. */
    messages: number | null;
    /** Until a message of the lanes counts as overdue, however much else waits before it. */
    overdue: number | null;
    /** Until a doubt of the lanes is to be looked into. */
    doubts: number | null;
    /** Until a lease can be ended. */
    leases: number | null;
    /** Lanes that are paused. */
    paused: readonly string[];
  }>;
  /** True while a message is leased to anyone, or is due. */
  hasDue(): Promise<boolean>;
  /** Whether another project has messages that wait in a lane, or had one accepted for it lately: see `lately`. */
  hasOthers(lane: string, projectId: string): Promise<boolean>;
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
  /** By project, the most messages that it may get; the others may get any number. */
  limits?: ReadonlyMap<string, number>;
  /** Only those that have waited for their bound, or soon will: for a lane that submits nothing now. See `overdueBefore`. */
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
  /** The mark: its attempt is the fence. Null before the first submission, and after one that was not taken. */
  mark: { attempt: number; route: string } | null;
  /** The highest attempt so far; the next mark is one higher. */
  attempts: number;
  /** Tries that count for the wait before the next one. */
  tries: number;
  /** The answers to them, the newest last. */
  tried: readonly TriedRun[];
  /** Milliseconds that a carrier may go on to say "later"; negative when they are over. */
  boundMs: number;
  /** Milliseconds within which the message may go out at all: those of a verification; null for any. */
  lifeMs: number | null;
  /** Milliseconds until a doubt ends without an answer; null for a message that is not in doubt. */
  doubtMs: number | null;
  /**
   * Carrier ids of receipts that came before it was in doubt, and are its own: they echo the end of its id and came after
   * its mark. Empty where there are none, and for a message that is not marked.
   */
  receipts: readonly string[];
  /** Its batch was stopped: it must not be submitted any more. */
  isStopped: boolean;
  /**
   * Of a batch's message: when earlier messages to its recipient were accepted, the newest first, as many as
   * the highest cap needs; null for a message whose caps were checked when it was accepted.
   */
  earlier: readonly Instant[] | null;
}

export interface Mark {
  claimed: ClaimedMessage;
  /** One more than the highest attempt so far. */
  attempt: number;
  route: string;
  /** How long the submission stays in doubt once its lease has ended: longer than the carrier's longest submit. */
  doubtMs: number;
  /** What a repeat sends, encrypted; absent where nothing may go out again. */
  request?: Uint8Array | null;
}

export interface MarkedRepeat {
  /** With the mark of the repeat. */
  claimed: ClaimedMessage;
  request: Uint8Array;
}

export interface Postponement {
  claimed: ClaimedMessage;
  delayMs: number;
  /** Whether it counts for the wait before the next try. */
  isTry: boolean;
  /** What its attempt came to, to be kept. */
  answer?: Tried;
  /** The lane of its next route; the same where absent. */
  lane?: string;
}

export type Outcome =
  | {
      status: 'sent';
      /** One for each segment; empty where the carrier sends no receipts. */
      carrierIds: readonly string[];
      /** What is known about the delivery already. */
      delivery: DeliveryState | null;
    }
  | { status: 'failed'; error: MessageError };

export interface Finalization {
  /** Fenced by its mark; without one, by its lease. */
  claimed: ClaimedMessage;
  outcome: Outcome;
  /** What its last attempt came to, to be kept; absent for one that was taken. */
  answer?: Tried;
}

/** A finalized message and the balance then. */
export interface Finalized {
  message: MessageRecord;
  balance: number;
}

/** A message in doubt that a receipt has ended. */
export interface FinalizedDoubt extends Finalized {
  lane: string;
  pendingKey: string | null;
}

/** The answer to bind to the key of a finalized message; its body ends with the balance, where it has one. */
export type AnswerOf = (message: MessageRecord, balance: number) => BoundAnswer;

/**
 * A carrier's report about a message, or a segment of one, that it took. Receipt and submission upsert one row for
 * each route, carrier id and recipient, so that whichever comes second joins the first; carriers reuse ids, so they
 * join within 7 days only. A final state is never overwritten, `unknown` is.
 */
export interface Receipt {
  route: string;
  carrierId: string;
  /** Normal form: its source address. */
  to: string;
  state: DeliveryState;
  /**
   * The end of the message's id, as much of it as the carrier gives back, for messages in doubt, whose carrier id
   * nobody has learnt: it joins when exactly one on the route to the recipient fits, and none that is being submitted.
   * Empty where nothing is given back.
   */
  reference: string;
  /** The submission by the carrier's clock, in whatever time zone: one in doubt joins within 2 days. Null where not given. */
  submittedAt: Instant | null;
}

/**
 * The delivery of a message in doubt that a receipt ends, apart from its receipts. Of several parts, other segments may
 * not have been taken: it stays open for their receipts.
 */
export function deliveryInDoubt({ message }: ClaimedMessage): 'unknown' | null {
  return (message.parts ?? 1) > 1 ? 'unknown' : null;
}

/** The outcome of a message in doubt whose receipts came before it was; null where none did. */
export function outcomeOfReceipts(claimed: ClaimedMessage): Outcome | null {
  const { receipts: carrierIds } = claimed;
  if (carrierIds.length === 0) return null;
  return { status: 'sent', carrierIds, delivery: deliveryInDoubt(claimed) };
}
