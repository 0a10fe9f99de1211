import type { RateLimiter } from '../../rate-limit/rate-limiter.js';
import type { JobState } from '../job/job-state.js';
import type { Journal } from '../job/journal.js';
import type { FrozenPlan } from '../plan/plan.js';
import type { ListingClient } from '../results/batch-messages.js';
import type { ReadingClient, Waited, WatchOptions } from '../results/poller.js';
import type { SendingClient } from './send-once.js';

export interface RunOptions {
  jobId: string;
  plan: Pick<FrozenPlan, 'meta' | 'requests'>;
  journal: Journal;
  table: JobState;
  client: SendingClient;
  /** Whether the newest answer to this key was that of an earlier request; asked once for each success. */
  isReplay?: (idempotencyKey: string) => boolean;
  /** Lists the messages of a batch whose size is not that of its request; absent where nobody can. */
  listing?: { batches: Pick<ListingClient['batches'], 'messages'> } | undefined;
  pace: Pick<RateLimiter, 'take' | 'block'>;
  now(): number;
  /** Resolves after so many milliseconds, or as soon as the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** From 0 up to 1. */
  random(): number;
  /** Requests in flight at once. */
  concurrency: number;
  /** How long one request is tried, in milliseconds. */
  maxWait: number;
  /** The job stops before it is charged more than this. */
  maxCredits?: number | undefined;
  /** Gives failed single sends a new revision, and so a new try. */
  retryFailed?: boolean | undefined;
  /** Waits until everything accepted is sent or failed, so many milliseconds after the last send. */
  wait?: (Pick<WatchOptions, 'timeout' | 'after'> & { client: ReadingClient }) | undefined;
  /** Aborted: nothing new is sent; what is in flight is finished and recorded. */
  stop?: AbortSignal;
  /** Aborted: what is in flight is left in doubt. */
  abandon?: AbortSignal;
}

/** How a run ended. The table says what is certain; this says why there is no more. */
export interface Ending {
  /** What stopped the job before all was sent; null when it came to its end. */
  stopped:
    | { by: 'service'; code: string; status: number | null }
    | { by: 'signal' }
    /** An answer that cannot be the service's, so none of it can be believed. */
    | { by: 'alarm'; reason: string }
    /** What is sent already and what would come next cost more than `maxCredits`; `price` is of one recipient. */
    | { by: 'limit'; price: number }
    /** Nothing could be recorded any more, or the plan not be read, so nothing more was sent. */
    | { by: 'disk'; doing: 'write' | 'read'; error: Error }
    | { by: 'fault'; error: unknown }
    | null;
  /** Null when nobody asked to wait. */
  waited: Waited | null;
}
