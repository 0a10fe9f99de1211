import type { Outcome } from './counts.js';

/** How far a request is; an `alarm` stays in doubt until a person has looked. */
export const phases = ['pending', 'doubt', 'accepted', 'alarm', 'rejected', 'failed'] as const;
export type Phase = (typeof phases)[number];

/** The outcome of the recipients of a request, as far as its phase tells. */
export const outcomeOf = {
  pending: 'pending',
  doubt: 'in_doubt',
  alarm: 'in_doubt',
  accepted: 'queued',
  rejected: 'rejected',
  failed: 'failed',
} as const satisfies Record<Phase, Outcome>;
