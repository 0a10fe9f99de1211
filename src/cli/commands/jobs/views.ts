import { cancelMarks } from '../../bulk/job/cancel-marks.js';
import { type Counts, outcomes } from '../../bulk/job/counts.js';
import { type JobView, jobError } from '../../bulk/job/open-job.js';
import { runningOf } from '../../bulk/job/run-note.js';
import type { BatchFigures } from '../../bulk/results/summary.js';
import { localTime } from '../../output/cells.js';
import { type Column, counts, field, type View } from '../../output/view.js';
import { duration, grouped } from '../../text/wording.js';
import { serviceAt } from '../bulk/base-url.js';
import { movedTo } from '../bulk/finish/summary-view.js';
import { reasonOf } from './reason.js';

/** A job in a list. */
export interface JobRow extends Counts {
  job: string;
  state: 'new' | 'running' | 'unfinished' | 'finished';
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
  credits: number;
  base_url: string;
  created_at: string;
  ended_at: string | null;
  exit: number | null;
}

/** Throws CliError (exit 12) if the job was removed meanwhile. */
export async function jobRow(job: JobView, now: number): Promise<JobRow> {
  const { id, folder, meta, state } = job;
  const running = await runningOf(folder, state, now).catch((error) => {
    throw jobError(job, error);
  });
  const ended = running === null ? state.ended : null;
  const isCancelled = (await cancelMarks(job)).length > 0;
  return {
    job: id,
    state: running !== null ? 'running' : stateOf(state),
    reason: reasonOf(state, { isCancelled, isRunning: running !== null }),
    pid: running?.pid ?? null,
    rate: running?.rate ?? null,
    seconds_left: running?.seconds_left ?? null,
    channel: meta.channel,
    source: meta.source,
    ...state.counts,
    moved_to: state.movedTo,
    credits: state.credits,
    base_url: meta.baseUrl,
    created_at: meta.created_at,
    ended_at: ended?.at ?? null,
    exit: ended?.exit ?? null,
  };
}

const stateOf = ({ finished, untouched }: JobView['state']) =>
  finished ? 'finished' : untouched ? 'new' : 'unfinished';

/** `running: pid 5606, 19.8/s, 2 min left`, `stopped: cancelled, 2 in doubt`, `finished: 12 failed` */
export function stateText(row: JobRow): string {
  const { state, reason, pid, rate, seconds_left: left, in_doubt: doubt } = row;
  const some = (count: number, what: string) => (count > 0 ? `${grouped(count)} ${what}` : null);
  const details: Record<JobRow['state'], (string | null)[]> = {
    new: [reason],
    running: [
      pid === null ? null : `pid ${pid}`,
      rate === null ? null : `${rate}/s`,
      left === null ? null : `${duration(left)} left`,
    ],
    unfinished: [reason === 'in doubt' ? null : reason, some(doubt, 'in doubt')],
    finished: [
      some(row.failed, 'failed'),
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

const number = (name: keyof JobRow & string) => field<JobRow>(name, { kind: 'number' });
const time = (name: 'created_at' | 'ended_at') => field<JobRow>(name, { kind: 'time' });
const state: Column<JobRow> = { name: 'state', value: (row) => row.state, words: stateText };

/** A job's name may take 24 of 80 columns. */
const longestSource = 11;
/** The file name at the end of a path. */
const shortSource = ({ source }: JobRow) =>
  source.length <= longestSource ? source : `…${source.slice(1 - longestSource)}`;

export const jobView: View<JobRow> = {
  columns: [
    field('job'),
    state,
    field('reason'),
    field('pid'),
    number('rate'),
    number('seconds_left'),
    field('channel'),
    field('source'),
    time('created_at'),
    number('planned'),
    number('accepted'),
    ...outcomes.map(number),
    movedTo(),
    number('credits'),
    field('base_url'),
    time('ended_at'),
    number('exit'),
  ],
  table: [
    field('job'),
    {
      name: 'created',
      value: ({ created_at: at }) => localTime(at).slice(0, '2026-11-21'.length),
      spare: true,
    },
    number('accepted'),
    // The state also shows the failed ones.
    ...counts<JobRow>('failed').map((column) => ({ ...column, ifAny: true, spare: true })),
    ...counts<JobRow>('pending').map((column) => ({ ...column, ifAny: true })),
    number('credits'),
    { ...field<JobRow>('source', { spare: true }), short: shortSource },
    // Not a status: on a narrow terminal it wraps.
    state,
  ],
  card: [
    field('job'),
    { ...state, kind: 'status' },
    field('channel'),
    field('source'),
    { name: 'base_url', value: ({ base_url }) => serviceAt(base_url) },
    time('created_at'),
    time('ended_at'),
    ...counts<JobRow>('planned', ...outcomes),
    movedTo(),
    ...counts<JobRow>('credits'),
  ],
  record: (row) => row,
  empty: 'No jobs.',
};

export interface JobDetails extends JobRow {
  batches: BatchFigures[];
}

export const jobDetailsView: View<JobDetails> = {
  columns: [...jobView.columns, { name: 'batches', kind: 'number', value: ({ batches }) => batches.length }],
  ...(jobView.card === undefined ? {} : { card: jobView.card }),
  record: (row) => row,
};
