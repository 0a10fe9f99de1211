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
