/** What is certain about a request. */
export const phases = ['pending', 'doubt', 'accepted', 'alarm', 'rejected', 'failed'] as const;
export type Phase = (typeof phases)[number];

/** Recipients by what is certain about them; together they are always `planned`. */
export interface Tally {
  planned: number;
  accepted: number;
  rejected: number;
  failed: number;
  in_doubt: number;
  pending: number;
}

export const tallyOf = {
  pending: 'pending',
  doubt: 'in_doubt',
  alarm: 'in_doubt',
  accepted: 'accepted',
  rejected: 'rejected',
  failed: 'failed',
} as const satisfies Record<Phase, keyof Tally>;
