/** Time and randomness as the client sees them. */
export interface System {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Calls `run` once after `milliseconds`; the returned function cancels it. */
  after(milliseconds: number, run: () => void): () => void;
  sleep(milliseconds: number): Promise<void>;
  /** 0 to 1, 1 excluded. */
  random(): number;
  newIdempotencyKey(): string;
  /** Resolves when the next attempt may begin; what it takes is not part of the attempt's time. */
  ready?(method: 'GET' | 'POST'): Promise<void>;
}

/** `setTimeout` takes no more, and fires at once when it is given more. */
const longestTimer = 2 ** 31 - 1;

export const realSystem: System = {
  now: Date.now,
  after(milliseconds, run) {
    const timer = setTimeout(run, Math.min(milliseconds, longestTimer));
    return () => clearTimeout(timer);
  },
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  random: Math.random,
  // The global loads when a key is made; to import node:crypto would cost every start.
  newIdempotencyKey: () => crypto.randomUUID(),
};
