export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /**
   * Milliseconds on a monotonic clock, for deadlines and durations; shared by the processes of this machine where
   * the system allows it.
   */
  elapsed(): number;
  /** Resolves after `milliseconds`; rejects with the signal's reason when it aborts first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` once after `milliseconds`; the returned function cancels that. */
  after(milliseconds: number, run: () => void): () => void;
}
