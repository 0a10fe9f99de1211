import { joinsWithin } from '../../dispatching.js';
import { countedFor, prunedText } from '../../pruning.js';
import { clockTolerance, firstDelay, leaseTolerance } from '../../shared/clock-tolerance.js';
import { lookAgain, withQuietHours } from '../../shared/quiet.js';
import { batchSlice, mostProjects } from '../../shared/turns.js';
import { mostRuns } from '../../tried.js';

/**
 * Attempts are renumbered after each release. Otherwise the report of a submission whose mark was lost in a failover
 * could pass for the outcome of a later mark.
 */
export const attemptsARelease = 1_000_000;

/**
 * Plans of functions are cached: those made for small tables must not scan large ones, nor a whole index for a join.
 * Large tables are joined LATERAL with OFFSET 0, which looks rows up one by one, or by = ANY (array).
 */
const planned =
  'SET enable_seqscan TO off SET enable_mergejoin TO off SET jit TO off SET plan_cache_mode TO force_generic_plan';

const isBulk = '(SELECT c.is_bulk FROM contents c WHERE c.seq = m.content)';

/** The values of `:name` in the schema's files. */
export const constants = {
  planned,
  /** For a queue that was never analysed, the planner takes any index of its lane. Only one has this order. */
  in_order: `${planned} SET enable_sort TO off`,
  /** Starts every write. Settings of the transaction do not leak to other clients of a pooler. */
  durable: `PERFORM set_config('synchronous_commit', 'on', true), set_config('lock_timeout', '2s', true)`,
  tolerance: clockTolerance,
  /** Milliseconds allowed over a lease's length: a renewal may wait behind other writes. */
  lease_tolerance: leaseTolerance,
  /** Milliseconds ahead of now at which an untried message, or a doubt, can be due. */
  first_delay: firstDelay,
  attempts_a_release: attemptsARelease,
  joins_within: joinsWithin,
  /** Milliseconds between the acceptance of a message in doubt and a submission that may be its own. */
  submitted_within: 2 * 86_400_000,
  /** The most projects that a claim skips because others have just locked what is due. */
  most_passed: 1_000,
  most_projects: mostProjects,
  batch_slice: batchSlice,
  with_quiet_hours: `'${withQuietHours}'`,
  look_again: lookAgain,
  /** Whether a message m waits in quiet hours. */
  waits_in_quiet_hours: `(m.batch IS NOT NULL OR ${isBulk})`,
  /** Whether it takes its turn with the batches: of an SMS, the caller waits. */
  is_of_list: `(m.batch IS NOT NULL OR (m.channel = 'email' AND ${isBulk}))`,
  most_runs: mostRuns,
  counted_for: countedFor,
  pruned_text: prunedText,
};
