import type { Submission } from '../carrier.js';

/** Submissions that differ only in reference and recipient. */
export type Run = [Submission, ...Submission[]];

/** Neighbouring submissions with the same content and route. */
export function runsOf(submissions: readonly Submission[]): Run[] {
  const runs: Run[] = [];
  for (const submission of submissions) {
    const run = runs.at(-1);
    if (run !== undefined && saysTheSame(run[0], submission)) run.push(submission);
    else runs.push([submission]);
  }
  return runs;
}

/** Compared field by field, because a batch is compared a thousand times. */
function saysTheSame(one: Submission, other: Submission): boolean {
  return (
    one.channel === other.channel &&
    one.route === other.route &&
    one.text === other.text &&
    one.subject === other.subject &&
    one.html === other.html &&
    one.from === other.from &&
    one.replyTo === other.replyTo
  );
}
