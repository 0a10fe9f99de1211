/** Time and randomness, injected. */
export interface System {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Calls `run` once after `milliseconds`; the returned function cancels it. */
  after(milliseconds: number, run: () => void): () => void;
  sleep(milliseconds: number): Promise<void>;
  /** 0 to 1, 1 excluded. */
  random(): number;
  newIdempotencyKey(): string;
  /** Resolves when the next attempt may begin; its time does not count towards the timeout. */
  ready?(method: 'GET' | 'POST'): Promise<void>;
}

/** Over this `setTimeout` fires at once. */
const longestTimer = 2 ** 31 - 1;

export const realSystem: System = {
  now: Date.now,
  after(milliseconds, run) {
    const timer = setTimeout(run, Math.min(milliseconds, longestTimer));
    return () => clearTimeout(timer);
  },
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  random: Math.random,
  // Loads late; an import of node:crypto would cost every start.
  newIdempotencyKey: () => crypto.randomUUID(),
};
