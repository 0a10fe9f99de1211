import { isSystemError } from '../job/system-error.js';
import { PlanDamaged } from '../plan/files/plan-reader.js';

/** What the next request costs now. */
export interface NextPrice {
  /** Credits for one recipient; Infinity if no price is known. */
  price: number;
  /** The same as a multiple of its price in the plan; null if the plan has no price. */
  increase: number | null;
}

export interface ServiceStop {
  by: 'service';
  code: string;
  status: number | null;
  /** Explains the code. */
  detail?: string | undefined;
  /** The service takes nothing before, in milliseconds since 1970; absent if that is within a minute, or days away. */
  opens?: number | undefined;
}

/** When a service that asks for such a wait takes messages again, as in a ServiceStop. */
export const opensAt = (now: number, wait: number): number | undefined =>
  wait >= 60_000 && wait <= 86_400_000 ? now + wait : undefined;

/** Why a job stopped before everything was sent. */
export type StopReason =
  | ServiceStop
  | { by: 'signal' }
  /** `jobs cancel` */
  | { by: 'cancel' }
  /** An answer that cannot be the service's, so no other answer can be trusted. */
  | { by: 'alarm'; reason: string }
  /** The next request would exceed `maxCredits`. */
  | ({ by: 'limit' } & NextPrice)
  /** The journal cannot be written, or the plan cannot be read. */
  | { by: 'disk'; doing: 'write' | 'read'; error: Error }
  /** An internal error. */
  | { by: 'fault'; error: unknown };

const stopWords: Readonly<Record<string, string>> = {
  insufficient_credits: 'out of credits',
  rate_limited: 'rate limited',
  recipient_rate_limited: 'recipients over their cap',
  connection_error: 'connection failed',
  timeout: 'no answer',
  unavailable: 'service unavailable',
};

/** An error code that stops a job, in words; any other code itself. */
export const wordsOfStop = (code: string): string => stopWords[code] ?? code;

/** The reason of a `stop` signal after `jobs cancel`. */
export const cancelled = new Error('the job was cancelled');

/**
 * Whether everything accepted has its final figures; otherwise the code with which the service refused the reads, if it
 * did.
 */
export type Waited = { final: boolean; refused: string | null };

/** How a run ended; the job state has the outcome. */
export interface Ending {
  /** Null if it ran to its end. */
  stopped: StopReason | null;
  /** Null without `--wait`. */
  waited: Waited | null;
}

/** The code with which the service refused the API key; null if it did not. */
export function refusalOfKey(stopped: StopReason | null): 'unauthorized' | 'forbidden' | null {
  if (stopped?.by !== 'service') return null;
  return stopped.code === 'unauthorized' || stopped.code === 'forbidden' ? stopped.code : null;
}

export function stopReasonOf(error: unknown, journalFault: Error | null): StopReason {
  if (journalFault !== null) return { by: 'disk', doing: 'write', error: journalFault };
  const isOfDisk = isSystemError(error) || error instanceof PlanDamaged;
  return isOfDisk ? { by: 'disk', doing: 'read', error } : { by: 'fault', error };
}

/** Requests in doubt can still be resolved, since they may have been paid for. */
export function isOutOfMoney(stopped: StopReason | null): boolean {
  return stopped?.by === 'limit' || (stopped?.by === 'service' && stopped.code === 'insufficient_credits');
}
