import type { Instant } from './records.js';

/**
 * What an attempt came to that certainly was not taken, beside `refused` as a PutOff of a carrier. `lost`: it never
 * reached its carrier, or an error of the service kept it back.
 */
export type TriedKind = 'refused' | 'account' | 'rate' | 'message' | 'lost';

/** An answer to an attempt. */
export interface Tried {
  kind: TriedKind;
  route: string;
  /** The carrier's own; empty where there was no answer. */
  code: string;
  /** The carrier's, without recipients and secrets. */
  words: string;
}

/** Equal answers, one after the other. */
export interface TriedRun extends Tried {
  /** Of the first and the last of them. */
  at: Instant;
  until: Instant;
  times: number;
}

/** That are kept of a message: older ones are forgotten. */
export const mostRuns = 20;

/** The runs with one more answer. */
export function withTried(
  runs: readonly TriedRun[],
  { kind, route, code, words }: Tried,
  at: Instant,
): TriedRun[] {
  const last = runs.at(-1);
  const isSame = last?.kind === kind && last.route === route && last.code === code && last.words === words;
  if (last !== undefined && isSame)
    return [...runs.slice(0, -1), { ...last, until: at, times: last.times + 1 }];
  return [...runs, { kind, route, code, words, at, until: at, times: 1 }].slice(-mostRuns);
}
