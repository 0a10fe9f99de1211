import type { ClaimedMessage } from './dispatching.js';
import type { HoldReason, Unfinished } from './records.js';

/**
 * While a store is held, nothing is accepted, claimed or marked, in any process; reads, outcomes of running attempts
 * and receipts continue.
 */
export interface Holding {
  /** Holds the store, unless it is already held. */
  hold(reason: HoldReason): Promise<void>;
  /** Null while the store is not held. */
  held(): Promise<HoldReason | null>;
  countUnfinished(): Promise<Unfinished>;
  /**
   * Leases unfinished messages, including those leased elsewhere, so that none of them can be marked. None if the
   * store is not held.
   */
  claimUnfinished(claim: { token: string; leaseMs: number; limit: number }): Promise<ClaimedMessage[]>;
  /**
   * Ends the hold. Requeues unfinished messages; marked ones are in doubt. False, without any change, if the store is
   * not held.
   */
  release(): Promise<boolean>;
}
