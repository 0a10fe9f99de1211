import type { Batch } from '../contract/index.js';
import { onAbort } from '../contract/on-abort.js';
import type { Progress } from './call.js';
import { UrtuuError } from './error.js';
import type { System } from './system.js';

/** Milliseconds between two polls. */
const firstPause = 500;
const longestPause = 15_000;
const growth = 1.5;

interface Wait {
  /** Milliseconds for the whole wait. */
  timeout: number;
  signal: AbortSignal | null;
  /** Of all polls. */
  progress: Progress;
}

/**
 * Polls until the batch is completed. After a temporary failure it polls again, observing Retry-After. When the time
 * is up it rejects with `timeout`, whose cause is the last such failure.
 */
export async function untilCompleted(
  poll: (signal: AbortSignal) => Promise<Batch>,
  { timeout, signal, progress }: Wait,
  system: System,
): Promise<Batch> {
  const ending = new AbortController();
  const abort = () => ending.abort(signal?.reason);
  if (signal?.aborted) abort();
  const stopListening = signal === null ? null : onAbort(signal, abort);
  let expired = false;
  const stopTimer = system.after(timeout, () => {
    expired = true;
    ending.abort();
  });
  let failure: UrtuuError | null = null;
  try {
    for (let pause = firstPause; ; pause = Math.min(pause * growth, longestPause)) {
      let rest = pause;
      try {
        const batch = await poll(ending.signal);
        if (batch.status === 'completed') return batch;
        failure = null;
      } catch (error) {
        if (!(error instanceof UrtuuError && isTransient(error))) throw error;
        if (ending.signal.aborted) throw expired ? timedOut(timeout, progress, failure) : error;
        failure = error;
        rest = Math.max(pause, 1_000 * (error.retryAfter ?? 0));
      }
      await system.sleep(rest, ending.signal);
    }
  } finally {
    stopTimer();
    stopListening?.();
  }
}

function isTransient({ code, status }: UrtuuError): boolean {
  return status === null || status >= 500 || code === 'rate_limited';
}

function timedOut(timeout: number, progress: Progress, failure: UrtuuError | null): UrtuuError {
  const message = `the batch is not completed after ${timeout} ms`;
  const cause = failure ?? new DOMException(message, 'TimeoutError');
  return new UrtuuError({ ...progress, code: 'timeout', message, status: null, retryAfter: null, cause });
}
