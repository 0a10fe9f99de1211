import type { Outcome } from './counts.js';

/** The progress of a request; an `alarm` stays in doubt until a person has looked at it. */
export const phases = ['pending', 'doubt', 'accepted', 'alarm', 'rejected', 'failed'] as const;
export type Phase = (typeof phases)[number];

/** The outcome of a request's recipients, as far as its phase determines it. */
export const outcomeOf = {
  pending: 'pending',
  doubt: 'in_doubt',
  alarm: 'in_doubt',
  accepted: 'queued',
  rejected: 'rejected',
  failed: 'failed',
} as const satisfies Record<Phase, Outcome>;
