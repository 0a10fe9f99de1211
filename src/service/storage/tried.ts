import type { Instant } from './records.js';

/**
 * The result of an attempt that was certainly not accepted: `refused`, or the scope of a carrier's Deferral. `lost`: it
 * never reached its carrier, or an error in the service prevented it.
 */
export type TriedKind = 'refused' | 'account' | 'rate' | 'message' | 'lost';

/** A carrier's answer as people may see it, without recipients and secrets. */
export interface ShownAnswer {
  /** The carrier's code; empty without an answer. */
  code: string;
  words: string;
}

/** In one line: `450 4.7.1 Sender rejected`. */
export const answerLine = ({ code, words }: ShownAnswer): string => `${code} ${words}`.trim();

/** An answer to an attempt. */
export interface Tried extends ShownAnswer {
  kind: TriedKind;
  route: string;
}

/** Consecutive equal answers. */
export interface TriedRun extends Tried {
  /** Of the first and the last of them. */
  at: Instant;
  until: Instant;
  times: number;
}

/** The most that are kept of a message; older ones are deleted. */
export const mostRuns = 20;

/** The runs with another answer added. */
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
