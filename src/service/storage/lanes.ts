import type { MessageError } from '../../contract/index.js';
import type { Instant } from './records.js';

<<<<<<< HEAD
/** A queue, as far as the store knows it: messages wait in it, or it is paused, or it led to a real carrier. */
export interface LaneRecord {
  name: string;
  /** Null while it is open. */
  pausedAt: Instant | null;
  /** Messages that wait in it, due or not; up to a million are counted. */
  waiting: number;
  /** When the first of them was or is due; null where none waits. */
  oldestAt: Instant | null;
  /** Messages that a process has claimed. */
  claimed: number;
  /** Messages with an unknown outcome that nobody looks into now; up to a million are counted. */
  doubtful: number;
=======
/** A lane that the owner of the service has paused. */
export interface LanePause {
  lane: string;
  pausedAt: Instant;
>>>>>>> main
}

export const mostCounted = 1_000_000;

/** A batch that was stopped, with its counts afterwards. */
export interface StoppedBatch {
  total: number;
  sent: number;
  failed: number;
  /** Messages that failed by this call, and their credits, which were refunded. */
  stopped: number;
  refunded: number;
}

/** What the owner of a service does to its queues, in every process at once. */
export interface LaneControl {
  lanePauses(): Promise<LanePause[]>;
  /**
   * From now on nothing in the lane is marked, whoever has claimed it, until it is resumed. Submissions that were marked
   * before go on.
   */
  pauseLane(name: string): Promise<void>;
  resumeLane(name: string): Promise<void>;
  /**
   * Fails and refunds what is not marked, claimed or not; what is marked keeps its outcome, and fails should its attempt
   * certainly not have been taken. Null where there is no such batch.
   */
  stopBatch(id: string, error: MessageError): Promise<StoppedBatch | null>;
}
