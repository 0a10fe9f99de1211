import { cancelMarks } from '../../bulk/job/cancel-marks.js';
import type { Counts } from '../../bulk/job/counts.js';
import { folderOf, isNoJob, jobIds } from '../../bulk/job/jobs-folder.js';
import { readJobId } from '../../bulk/job/keys.js';
import { type JobView, onJob, planName, viewJob } from '../../bulk/job/open-job.js';
import { runningOf } from '../../bulk/job/run-note.js';
import { Takers } from '../../bulk/job/takers.js';
import { readPlanMeta } from '../../bulk/plan/files/plan-reader.js';
import { wordsOfStop } from '../../bulk/send/ending.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { duration, grouped } from '../../text/wording.js';

/** A job in a list. */
export interface JobRow extends Counts {
  job: string;
  state: 'new' | 'held' | 'running' | 'unfinished' | 'finished';
  /** The name of its plan, as `jobs resume` takes it. */
  plan: string;
  /** Why it is unfinished and not running; also `cancelled` while it is ending because of that. */
  reason: string | null;
  /** For a running job: its process, recipients a second, and the seconds left. */
  pid: number | null;
  rate: number | null;
  seconds_left: number | null;
  channel: string;
  source: string;
  /** The jobs that took the moved rows. */
  moved_to: readonly string[];
  /** Rows that `--exclude` left out. */
  excluded: number;
  credits: number;
  base_url: string;
  created_at: string;
  ended_at: string | null;
  exit: number | null;
}

/** Throws CliError (exit 12) if the job was removed meanwhile. */
export async function jobRow(job: JobView, now: number): Promise<JobRow> {
  const { id, folder, meta, state } = job;
  const running = await onJob(job, runningOf(folder, state, now));
  const ended = running === null ? state.ended : null;
  const isCancelled = (await cancelMarks(job)).length > 0;
  return {
    job: id,
    state: running !== null ? 'running' : stateOf(state),
    plan: planName(meta.digest),
    reason: reasonOf(state, { isCancelled, isRunning: running !== null }),
    pid: running?.pid ?? null,
    rate: running?.rate ?? null,
    seconds_left: running?.seconds_left ?? null,
    channel: meta.channel,
    source: meta.source,
    ...state.counts,
    moved_to: state.movedTo,
    excluded: meta.excluded ?? 0,
    credits: state.credits,
    base_url: meta.baseUrl,
    created_at: meta.created_at,
    ended_at: ended?.at ?? null,
    exit: ended?.exit ?? null,
  };
}

const stateOf = ({ finished, held, untouched }: JobView['state']) =>
  finished ? 'finished' : held ? 'held' : untouched ? 'new' : 'unfinished';

/** `running: pid 5606, 19.8/s, 2 min left`, `stopped: cancelled, 2 in doubt`, `finished: 12 failed` */
export function stateText(row: JobRow): string {
  const { state, reason, pid, rate, seconds_left: left, in_doubt: doubt } = row;
  const some = (count: number, what: string) => (count > 0 ? `${grouped(count)} ${what}` : null);
  const details: Record<JobRow['state'], (string | null)[]> = {
    new: [reason],
    held: [`plan ${row.plan}`],
    running: [
      pid === null ? null : `pid ${pid}`,
      rate === null ? null : `${rate}/s`,
      left === null ? null : `${duration(left)} left`,
    ],
    unfinished: [reason === 'in doubt' ? null : reason, some(doubt, 'in doubt')],
    finished: [
      some(row.failed, 'failed'),
      some(row.suppressed, 'suppressed'),
      some(row.rejected, 'rejected'),
      some(row.unknown, 'unknown'),
      some(row.moved, `moved to ${row.moved_to.join(' and ') || 'another job'}`),
      some(doubt, 'in doubt'),
    ],
  };
  const word =
    state === 'running' && reason !== null ? 'stopping' : state === 'unfinished' ? 'stopped' : state;
  const known = details[state].filter((detail) => detail !== null);
  return known.length === 0 ? word : `${word}: ${known.join(', ')}`;
}

/** What a later run may overcome. */
const temporary = ['rate_limited', 'recipient_rate_limited', 'connection_error', 'timeout'];

/** Why the last run ended, by its exit code. */
const reasons: Readonly<Record<number, string>> = {
  [exits.internal]: 'internal error',
  [exits.key]: 'API key refused',
  [exits.doubt]: 'in doubt',
  [exits.money]: 'at --max-credits',
  [exits.machine]: 'disk error',
};

/** Why an unfinished job is not running, or `cancelled` while it is ending; else null. */
function reasonOf(
  state: JobView['state'],
  { isCancelled, isRunning }: { isCancelled: boolean; isRunning: boolean },
): string | null {
  if (state.finished) return null;
  if (isCancelled) return 'cancelled';
  if (isRunning || state.untouched) return null;
  const exit = state.ended?.exit;
  if (exit === undefined) return 'killed';
  if (exit === exits.later)
    return temporary.filter((code) => state.wasRefused(code)).map(wordsOfUnsent)[0] ?? 'interrupted';
  const isPoor = exit === exits.money && state.wasRefused('insufficient_credits');
  return isPoor ? wordsOfStop('insufficient_credits') : (reasons[exit] ?? null);
}

/** Of what never left: no connection was made in time. */
const wordsOfUnsent = (code: string) => wordsOfStop(code === 'timeout' ? 'connection_error' : code);

/** The jobs of this machine, newest first. `damaged` is called with the error of a job that cannot be read. */
export async function* jobRows(
  { config, clock }: Pick<Context, 'config' | 'clock'>,
  damaged: (error: CliError) => void,
): AsyncGenerator<JobRow> {
  const takers = await Takers.in(config.stateDirectory);
  for (const id of await newestFirst(config.stateDirectory)) {
    try {
      yield await jobRow(await viewJob(config.stateDirectory, id, takers), clock.now());
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      if (!isNoJob(error)) damaged(error);
    }
  }
}

async function newestFirst(stateDirectory: string): Promise<string[]> {
  const jobs: { id: string; created: number; run: number }[] = [];
  for (const id of await jobIds(stateDirectory)) {
    // A damaged job is reported when it is viewed.
    const meta = await readPlanMeta(folderOf(stateDirectory, id)).catch(() => null);
    jobs.push({ id, created: Date.parse(meta?.created_at ?? '') || 0, run: readJobId(id).run });
  }
  return jobs.sort((one, other) => other.created - one.created || other.run - one.run).map(({ id }) => id);
}
