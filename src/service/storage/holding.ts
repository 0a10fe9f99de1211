import type { ClaimedMessage } from './dispatching.js';

/**
 * Why the store is held: it was restored from a backup or loaded from a dump, or the timeline of PostgreSQL has changed,
 * which is a failover or a recovery. Either way it may have forgotten what was sent.
 */
export type HoldReason = 'restored' | 'failed_over';

/** Messages that are not final. */
export interface Unfinished {
  messages: number;
  /** Those of them that are marked: somebody may have submitted them. */
  submitting: number;
}

/**
 * While a store is held nothing is accepted, claimed or marked, in any process; reads, outcomes of attempts that are under
 * way and receipts go on.
 */
export interface Holding {
  /** Holds the store; one that is held already stays as it is. */
  hold(reason: HoldReason): Promise<void>;
  /** Null while the store is not held. */
  held(): Promise<HoldReason | null>;
  countUnfinished(): Promise<Unfinished>;
  /**
   * Leases unfinished messages, including those leased elsewhere: none of them can be marked now. None where the store is
   * not held.
   */
  claimUnfinished(claim: { token: string; leaseMs: number; limit: number }): Promise<ClaimedMessage[]>;
  /**
   * Ends the hold. Requeues unfinished messages; marked ones are in doubt. False, and nothing changes, where the store is
   * not held.
   */
  release(): Promise<boolean>;
}
