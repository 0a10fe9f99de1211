import type { Channel, MessageError } from '../../contract/index.js';
import type { Instant } from './records.js';

/** A lane paused by the owner of the service. */
export interface LanePause {
  lane: string;
  pausedAt: Instant;
}

/** A batch that was stopped, with its counts afterwards. */
export interface StopCounts {
  channel: Channel;
  total: number;
  sent: number;
  failed: number;
  /** Messages that this call made fail, and their refunded credits. */
  stopped: number;
  refunded: number;
  /** `stopped` by lane. */
  lanes: { lane: string; count: number }[];
}

/** The owner's control of the queues, for every process at once. */
export interface LaneControl {
  lanePauses(): Promise<LanePause[]>;
  /**
   * From now on nothing in the lane is marked, claimed or not, until it is resumed. Submissions marked earlier
   * continue.
   */
  pauseLane(name: string): Promise<void>;
  resumeLane(name: string): Promise<void>;
  /**
   * Fails and refunds unmarked messages, claimed or not. Marked ones keep their outcome, but fail if their attempt
   * was certainly not accepted. Null if there is no such batch.
   */
  stopBatch(id: string, error: MessageError): Promise<StopCounts | null>;
}
