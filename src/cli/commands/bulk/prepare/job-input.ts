import { isDeepStrictEqual } from 'node:util';
import type { Job } from '../../../bulk/job/open-job.js';
import type { PlanOutcome } from '../../../bulk/plan/build-plan.js';
import type { FrozenPlan } from '../../../bulk/plan/plan.js';
import type { JobInput } from '../next-command.js';
import type { BulkOptions } from '../options.js';
import type { PlanChoices, PlanSource } from './plan-list.js';
import type { Comparison } from './sent-before.js';

export function inputOf(
  { plan }: Job,
  { templates }: PlanSource,
  { rejects, meta }: PlanOutcome,
  { uncertain }: Comparison,
  { only, acceptDuplicates }: PlanChoices,
): JobInput {
  // A job that was planned before may keep other texts that were the same for all its rows.
  const isSame =
    isDeepStrictEqual(plan.meta.templates, JSON.parse(JSON.stringify(templates))) &&
    isDeepStrictEqual(limitsOf(plan.meta), limitsOf(meta));
  return {
    ...{ only, acceptDuplicates, rejected: rejects.count },
    rejects: isSame ? rejects.file : null,
    rest: isSame ? meta.rest : null,
    leftOut: rejects.count + uncertain,
  };
}

/** The options that say whom a command like this one reaches. */
const limitsOf = ({ options = {} }: FrozenPlan['meta']) =>
  (['where', 'exclude', 'excludeColumn'] as const).map((name) => (options as BulkOptions)[name] ?? null);
