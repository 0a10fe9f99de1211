/** A token bucket: one token an `interval` (milliseconds), at most `burst` saved up. */
export interface Bucket {
  interval: number;
  burst: number;
}

export interface Taken {
  allowed: boolean;
  /** Whole tokens left. */
  remaining: number;
  /** Milliseconds until a token is there; 0 when one was taken. */
  wait: number;
}

/**
 * Takes a token. A bucket is remembered as the one time at which it will be full again (the generic cell rate
 * algorithm), so that it fills by itself.
 */
export function takeToken(fullAt: number | null, bucket: Bucket, now: number): Taken & { fullAt: number } {
  const capacity = bucket.interval * bucket.burst;
  // A clock that was set back must not lock a project out for longer than an empty bucket does.
  const before = Math.min(Math.max(fullAt ?? now, now), now + capacity);
  const after = before + bucket.interval;
  const wait = after - now - capacity;
  if (wait > 0) return { allowed: false, remaining: 0, wait, fullAt: before };
  return {
    allowed: true,
    remaining: Math.floor((capacity - (after - now)) / bucket.interval),
    wait: 0,
    fullAt: after,
  };
}

/** The request allowances of all projects, shared by every process; forgetting them costs nothing. */
export interface Allowances {
  take(projectId: string, kind: string, bucket: Bucket, now: number): Promise<Taken>;
  reset(): Promise<void>;
  close(): Promise<void>;
}
