import { setImmediate } from 'node:timers/promises';
import type { MessageStatus } from '../../contract/index.js';
import type { Content, DeliveryState, Instant } from './records.js';
import type { TriedRun } from './tried.js';

/** Reads for people who look at a project. Each looks at a bounded number of rows, and says whether there are more. */
export interface Insights {
  /** Messages accepted from `since` on, in slots of `stepMs`. */
  countMessages(projectId: string, since: Instant, stepMs: number): Promise<Counted>;
  /** Messages that wait for their turn. */
  countWaiting(projectId: string): Promise<Waiting>;
  /** Null when the message is not there. */
  getHistory(projectId: string, messageId: string): Promise<MessageHistory | null>;
}

export interface Counted {
  /** `unknown`: of `count`, their delivery is unknown. */
  counts: { slot: number; status: MessageStatus; errorCode: string | null; count: number; unknown: number }[];
  /** False where only the newest were counted. */
  isWhole: boolean;
}

export interface Waiting {
  count: number;
  /** Milliseconds since the acceptance of the oldest; null where none waits. */
  oldestMs: number | null;
  isWhole: boolean;
}

export interface MessageHistory {
  content: Content | null;
  /** Of the newest submission; null before the first. */
  route: string | null;
  attempts: number;
  /** Answers to attempts that were not taken, the newest last. */
  tried: readonly TriedRun[];
  /** One a segment. */
  receipts: { carrierId: string; state: DeliveryState; receivedAt: Instant }[];
  /** Null while nothing was refunded. */
  refund: { amount: number; createdAt: Instant } | null;
}

/** Rows that are counted at once, and in all. */
export const countedAtOnce = 30_000;
const countedInAll = 300_000;
/** Rows that are looked at for those of a project that wait. */
export const lookedAt = 20_000;

/** A part of the counts; `next` is where to go on, null at the end. */
export interface CountedSome {
  counts: Counted['counts'];
  next: number | null;
}

/** Counts part by part, so that nobody waits long for one of them. */
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
    // An engine in this process has held up everything else meanwhile.
    await setImmediate();
  }
  return { counts, isWhole: false };
}

/** The queue of a lane; `waiting` and `doubtful` count up to a million messages. */
export interface LaneDepth {
  lane: string;
  /** Not claimed yet, whether due or postponed. */
  waiting: number;
  /** Milliseconds since the first of them was due; null where none is. */
  oldestMs: number | null;
  /** Claimed by a process. */
  claimed: number;
  /** Not claimed, and with an unknown outcome. */
  doubtful: number;
}

export const mostCounted = 1_000_000;
