/** A recipient of a job has exactly one of these outcomes. */
export const outcomes = [
  'sent',
  /** Sent, but it is unknown whether it arrived. */
  'unknown',
  /** Accepted, but not yet known to be sent or failed. */
  'queued',
  'failed',
  /** On the service's do-not-send list. */
  'suppressed',
  /** Refused by the service, or not in the plan. */
  'rejected',
  /** Another job took the row. */
  'moved',
  'in_doubt',
  'pending',
] as const;
export type Outcome = (typeof outcomes)[number];

/** Accepted, and not charged in the end. */
export const isRefunded = (outcome: Outcome): boolean => outcome === 'failed' || outcome === 'suppressed';

/** The progress of a request; an `alarm` stays in doubt until a person has looked at it. */
export const phases = ['pending', 'doubt', 'accepted', 'alarm', 'rejected', 'suppressed', 'failed'] as const;
export type Phase = (typeof phases)[number];

/** The outcome of a request's recipients, as far as its phase determines it. */
export const outcomeOf = {
  pending: 'pending',
  doubt: 'in_doubt',
  alarm: 'in_doubt',
  accepted: 'queued',
  rejected: 'rejected',
  suppressed: 'suppressed',
  failed: 'failed',
} as const satisfies Record<Phase, Outcome>;

/** Why a recipient was removed from its request. */
export type Removal = 'invalid_request' | 'not_in_batch' | Moved;

/** Moved to another job; '' if a journal of an earlier release does not name it. */
export interface Moved {
  to: string;
}

export const isMoved = (removal: Removal | undefined): removal is Moved => typeof removal === 'object';

export const statusOfRemoval = (removal: Removal) => (isMoved(removal) ? 'moved' : 'rejected');

/** Recipients by outcome, which add up to `planned`. */
export interface Counts extends Record<Outcome, number> {
  planned: number;
  /** sent + unknown + queued */
  accepted: number;
}

interface Counted {
  readonly planned: number;
  /** In the order of `outcomes`. */
  readonly outcomes: Readonly<Record<Outcome, number>>;
}

/** The counts of a job, for all screens, files and exit codes. Recipients of requests `inFlight` count as pending. */
export function countsOf({ planned, outcomes }: Counted, inFlight = 0): Counts {
  const { sent, unknown, queued, in_doubt, pending } = outcomes;
  const accepted = sent + unknown + queued;
  return { planned, accepted, ...outcomes, in_doubt: in_doubt - inFlight, pending: pending + inFlight };
}

/** Recipients of requests with a final answer. */
export const answeredIn = ({ planned, in_doubt, pending }: Counts): number => planned - in_doubt - pending;
