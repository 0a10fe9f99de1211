import { onAbort } from '../contract/on-abort.js';

/** Time and randomness, injected. */
export interface System {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Milliseconds of a clock that never goes back. */
  elapsed(): number;
  /** Calls `run` once after `milliseconds`; the returned function cancels it. */
  after(milliseconds: number, run: () => void): () => void;
  /** Ends early when `signal` aborts, without an error. */
  sleep(milliseconds: number, signal: AbortSignal | null): Promise<void>;
  /** 0 to 1, 1 excluded. */
  random(): number;
  newIdempotencyKey(): string;
  /** Resolves when the next attempt may start; the wait does not count towards the timeout. */
  ready?(method: 'GET' | 'POST'): Promise<void>;
}

/** A longer `setTimeout` would fire at once. */
const longestTimer = 2 ** 31 - 1;

export const realSystem: System = {
  now: Date.now,
  elapsed: () => performance.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, Math.min(milliseconds, longestTimer));
    return () => clearTimeout(timer);
  },
  sleep: (milliseconds, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const timer = setTimeout(() => {
        stopListening?.();
        resolve();
      }, milliseconds);
      const stopListening =
        signal === null
          ? null
          : onAbort(signal, () => {
              clearTimeout(timer);
              stopListening?.();
              resolve();
            });
    }),
  random: Math.random,
  // Loaded late: importing node:crypto would slow down every start.
  newIdempotencyKey: () => crypto.randomUUID?.() ?? randomUuid(),
};

/** jsdom 20, which Jest 29 runs, has random values only. */
function randomUuid(): string {
  const [a = 0, b = 0, c = 0, d = 0] = crypto.getRandomValues(new Uint32Array(4));
  // Its version is 4, and its variant 8 to b.
  const words = [a, (b & 0xffff0fff) | 0x4000, (c & 0x3fffffff) | 0x80000000, d];
  const hex = words.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
