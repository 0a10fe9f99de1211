/** How far a request is; an `alarm` stays in doubt until a person has looked. */
export const phases = ['pending', 'doubt', 'accepted', 'alarm', 'rejected', 'failed'] as const;
export type Phase = (typeof phases)[number];

/** Recipients by outcome; the others always add up to `planned`. */
export interface Tally {
  planned: number;
  accepted: number;
  rejected: number;
  failed: number;
  in_doubt: number;
  pending: number;
}

/** The figure of the tally in which the recipients of a request count. */
export const figureOf = {
  pending: 'pending',
  doubt: 'in_doubt',
  alarm: 'in_doubt',
  accepted: 'accepted',
  rejected: 'rejected',
  failed: 'failed',
} as const satisfies Record<Phase, keyof Tally>;
