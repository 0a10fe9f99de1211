import type { Channel, MessageError } from '../../contract/index.js';
import type { Instant } from './records.js';

/** A lane that the owner of the service has paused. */
export interface LanePause {
  lane: string;
  pausedAt: Instant;
}

/** A batch that was stopped, with its counts afterwards. */
export interface StoppedBatch {
  channel: Channel;
  total: number;
  sent: number;
  failed: number;
  /** Messages that failed by this call, and their credits, which were refunded. */
  stopped: number;
  refunded: number;
  /** `stopped`, by lane. */
  lanes: { lane: string; count: number }[];
}

/** Control of the queues by the owner of the service, in every process at once. */
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
