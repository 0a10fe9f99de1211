import type { MessageStatus } from '../../contract/index.js';
import { largeTurn } from '../event-loop.js';
import type { Content, DeliveryState, Instant } from './records.js';
import type { TriedRun } from './tried.js';

/** Reads for people. Each reads a limited number of rows and reports whether there are more. */
export interface Insights {
  /** Messages accepted since `since`, in slots of `stepMs`. */
  countMessages(projectId: string, since: Instant, stepMs: number): Promise<Counted>;
  /** Waiting messages. */
  countWaiting(projectId: string): Promise<Waiting>;
  /** Verifications created since `since`, and how many of them were verified. */
  countVerifications(projectId: string, since: Instant): Promise<CountedVerifications>;
  /**
   * Milliseconds until the newest verifications, `most` of them, have left the window; null while there are fewer.
   * `numbers`: of those to numbers in this range alone.
   */
  verificationWait(projectId: string, limit: VerificationLimit): Promise<number | null>;
  /** Null if there is no such message. */
  getHistory(projectId: string, messageId: string): Promise<MessageHistory | null>;
  /** Whether an idempotency key between two has the answer of this message or batch. It reads all that lie between. */
  isKeyedBetween(
    projectId: string,
    id: string,
    keys: readonly [first: string, last: string],
  ): Promise<boolean>;
}

export interface CountedVerifications {
  created: number;
  verified: number;
}

export interface VerificationLimit {
  most: number;
  windowMs: number;
  numbers: readonly [first: string, last: string] | null;
}

export interface Counted {
  /** `unknown`: of `count`, their delivery is unknown. */
  counts: { slot: number; status: MessageStatus; errorCode: string | null; count: number; unknown: number }[];
  /** False if only the newest were counted. */
  isWhole: boolean;
}

export interface Waiting {
  count: number;
  /** Milliseconds since the oldest was accepted; null if none waits. */
  oldestMs: number | null;
  isWhole: boolean;
}

export interface MessageHistory {
  content: Content | null;
  /** The route of the newest submission; null before the first. */
  route: string | null;
  attempts: number;
  /** Answers to attempts that were not accepted, newest last. */
  tried: readonly TriedRun[];
  /** One for each segment. */
  receipts: { carrierId: string; state: DeliveryState; code: string | null; receivedAt: Instant }[];
  /** Null while nothing was refunded. */
  refund: { amount: number; createdAt: Instant } | null;
}

/** Rows counted at once, and in total. */
export const countedAtOnce = 30_000;
const countedInAll = 300_000;
/** Rows searched for the waiting ones of a project. */
export const lookedAt = 20_000;

/** A part of the counts; `next` is where to continue, null at the end. */
export interface CountedSome {
  counts: Counted['counts'];
  next: number | null;
}

/** Counts in parts, so that none of them blocks others for long. */
export async function countInParts(
  countSome: (before: number | null) => Promise<CountedSome>,
): Promise<Counted> {
  const counts: Counted['counts'] = [];
  let before: number | null = null;
  for (let counted = 0; counted < countedInAll; counted += countedAtOnce) {
    const part: CountedSome = await countSome(before);
    counts.push(...part.counts);
    before = part.next;
    if (before === null) return { counts, isWhole: true };
    // An engine in this process has blocked everything else meanwhile.
    await largeTurn();
  }
  return { counts, isWhole: false };
}

/** The queue of a lane; `waiting` and `doubtful` count up to a million messages. */
export interface LaneDepth {
  lane: string;
  /** Not claimed yet, whether due or postponed. */
  waiting: number;
  /** Milliseconds since the first of them was due; null if there is none. */
  oldestMs: number | null;
  /** Claimed by a process. */
  claimed: number;
  /** Not claimed, and with an unknown outcome. */
  doubtful: number;
}

export const mostCounted = 1_000_000;

/** Receipts that match no message, or none yet. */
export interface Unjoined {
  route: string;
  count: number;
}

/** Milliseconds for which they are counted, and the most that are. */
export const unjoinedWithin = 86_400_000;
export const mostUnjoined = 10_000;
/** SQL: the receipts to count, of which one with two ids has two rows. */
export const isUnjoined = 'message IS NULL AND (other IS NULL OR carrier_id < other)';
