import { missingPart, partsWithin } from '../../inbox.js';
import { mostCounted } from '../../insights.js';
import { staleAfter } from '../../instances.js';
import { countedFor, prunedText } from '../../pruning.js';
import { batchSlice, mostProjects } from '../../shared/turns.js';
import { mostRuns } from '../../tried.js';

/** Milliseconds that a stored time may lie in the future while nobody has set the clock back. */
export const tolerance = 15_000;
/** Milliseconds after which a carrier may have given an id to another message. */
export const joinsWithin = 7 * 86_400_000;
/**
 * Attempts are numbered anew after each release: what a submission still reports, whose mark a failover has lost, does
 * not pass for the outcome of a mark made since.
 */
export const attemptsARelease = 1_000_000;

/**
 * Plans of functions are kept: those made while the tables are small must not scan them when they are large. Nor a whole
 * index for a join: large tables are joined LATERAL with OFFSET 0, which looks rows up one by one, or by = ANY (array).
 */
const planned =
  'SET enable_seqscan TO off SET enable_mergejoin TO off SET jit TO off SET plan_cache_mode TO force_generic_plan';

/** What `:name` in a file of the schema stands for. */
export const constants = {
  planned,
  /** Of a queue that was never analysed the planner takes any index of its lane. In this order there is but one. */
  in_order: `${planned} SET enable_sort TO off`,
  /** The beginning of every write. Settings of the transaction do not leak to other clients of a pooler. */
  durable: `PERFORM set_config('synchronous_commit', 'on', true), set_config('lock_timeout', '2s', true)`,
  /** A sign-in that lasts longer than it was to last is over: the clock was set back. */
  is_good: `until > at AND until <= at + length + ${tolerance}`,
  tolerance,
  /** Of leases, over their length: a renewal may wait for its turn. */
  lease_tolerance: 10_000,
  /** Milliseconds ahead of now at which a message that was never tried, or a doubt, can be due. */
  first_delay: 75_000,
  attempts_a_release: attemptsARelease,
  joins_within: joinsWithin,
  /** Milliseconds between the acceptance of a message in doubt and a submission that may be its own. */
  submitted_within: 2 * 86_400_000,
  /** Projects that a claim passes at most, of which others have just locked what is due. */
  most_passed: 1_000,
  most_projects: mostProjects,
  batch_slice: batchSlice,
  most_counted: mostCounted,
  most_runs: mostRuns,
  stale_after: staleAfter,
  counted_for: countedFor,
  pruned_text: prunedText,
  parts_within: partsWithin,
  missing_part: missingPart,
};
