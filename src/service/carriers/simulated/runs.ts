import type { Submission } from '../carrier.js';

/** Submissions that differ in nothing but reference and recipient. */
export type Run = [Submission, ...Submission[]];

/** Neighbours that say the same, over the same route. */
export function runsOf(submissions: readonly Submission[]): Run[] {
  const runs: Run[] = [];
  for (const submission of submissions) {
    const run = runs.at(-1);
    if (run !== undefined && saysTheSame(run[0], submission)) run.push(submission);
    else runs.push([submission]);
  }
  return runs;
}

function saysTheSame(one: Submission, other: Submission): boolean {
  return sameInARun.every((field) => one[field] === other[field]);
}

const sameInARun = ['channel', 'route', 'text', 'subject', 'html', 'from', 'replyTo'] as const;
