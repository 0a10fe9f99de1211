export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /**
   * Milliseconds on a monotonic clock, for deadlines and durations. The processes of this machine share it if the
   * system allows it.
   */
  elapsed(): number;
  /** Resolves after `milliseconds`; rejects with the signal's reason if it aborts first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` once after `milliseconds`; the returned function cancels it. */
  after(milliseconds: number, run: () => void): () => void;
}
