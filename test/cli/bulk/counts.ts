import { type Counts, outcomes } from '../../../src/cli/bulk/job/counts.js';

/** All counts of a job whose other recipients are in none of these. */
export function countsWith(some: Partial<Record<(typeof outcomes)[number], number>>): Counts {
  const each = Object.fromEntries(outcomes.map((name) => [name, some[name] ?? 0])) as unknown as Counts;
  const planned = outcomes.reduce((sum, name) => sum + each[name], 0);
  return { ...each, planned, accepted: each.sent + each.unknown + each.queued };
}
