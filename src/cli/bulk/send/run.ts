import type { RateLimiter } from '../../rate-limit/rate-limiter.js';
import type { MessageLister } from '../../reader/batch-messages.js';
import type { JobState } from '../job/job-state.js';
import type { Journal } from '../job/journal/journal.js';
import type { FrozenPlan, PlannedRequest } from '../plan/plan.js';
import type { StopReason, Waited } from './ending.js';
import type { Recorder } from './recorder.js';
import type { SendingClient } from './send-once.js';
import type { SpendLimit } from './spend-limit.js';

export interface RunOptions {
  jobId: string;
  plan: Pick<FrozenPlan, 'meta' | 'requests'>;
  journal: Journal;
  state: JobState;
  client: SendingClient;
  /** Whether the latest answer under this key repeats that of an earlier request; called once for each success. */
  isReplay?: (idempotencyKey: string) => boolean;
  /** Lists a batch with a size other than its request's; absent if that is not possible. */
  messageLister?: MessageLister | undefined;
  rateLimiter: Pick<RateLimiter, 'take' | 'block'>;
  /** On a monotonic clock. */
  now(): number;
  /** Milliseconds since 1970. */
  wallTime(): number;
  /** Resolves after so many milliseconds, or as soon as the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** At least 0, below 1. */
  random(): number;
  /** Requests in flight at once. */
  concurrency: number;
  /** How long one request is tried, in milliseconds. */
  maxWait: number;
  /** The job stops before its charges exceed this. */
  maxCredits?: number | undefined;
  /** Polls accepted requests for their final figures, during and after the sends. */
  openPoller?: ((run: Pick<Run, 'recorder' | 'halted'>) => OutcomePoller) | undefined;
  /** Aborted: nothing new is sent; requests in flight are finished and recorded. */
  stop?: AbortSignal;
  /** Aborted: requests in flight are left in doubt. */
  abandon?: AbortSignal;
}

export interface OutcomePoller {
  /** Adds requests that earlier runs left without final figures. */
  resume(): Promise<void>;
  /** Adds a request that was just accepted. */
  add(request: number, id: string, kind: PlannedRequest['kind']): void;
  /** Nothing more will be added; the timeout starts now. */
  close(): void;
  /** Rejects if final figures cannot be recorded. */
  run(): Promise<Waited>;
}

/** A run of a job, as seen by the sender of one request. */
export interface Run {
  readonly recorder: Recorder;
  readonly spendLimit: SpendLimit;
  /** Null while the run sends. */
  readonly stopped: StopReason | null;
  /** Aborted when the run stops. */
  readonly halted: AbortSignal;
  /** From now on nothing new is sent; the first reason counts. */
  halt(reason: StopReason): void;
  accepted(request: PlannedRequest, id: string): void;
  /** When a request was last accepted. */
  readonly lastAccepted: number;
  /** Sends a request again when it is due. */
  postpone(request: { request: number; since: number; due: number }): void;
  readPrices(): Promise<void>;
}
