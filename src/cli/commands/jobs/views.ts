import { isNoJob, jobIds } from '../../bulk/job/jobs-folder.js';
import { type JobView, viewJob } from '../../bulk/job/open-job.js';
import { runningOf } from '../../bulk/job/run-note.js';
import type { BatchFigures } from '../../bulk/results/summary.js';
import type { Context } from '../../context.js';
import { CliError } from '../../errors.js';
import { counts, field, type View } from '../../output/view.js';
import { duration } from '../../wording.js';
import { outcomes } from '../bulk/summary-view.js';

/** A job in a list. */
export interface JobRow {
  job: string;
  state: 'new' | 'running' | 'unfinished' | 'finished';
  /** Of a running job: its process, recipients a second, and the seconds left. */
  pid: number | null;
  rate: number | null;
  seconds_left: number | null;
  channel: string;
  source: string;
  planned: number;
  accepted: number;
  rejected: number;
  failed: number;
  in_doubt: number;
  pending: number;
  credits: number;
  base_url: string;
  created_at: string;
  ended_at: string | null;
  exit: number | null;
}

export async function jobRow({ id, folder, meta, state }: JobView, now: number): Promise<JobRow> {
  const running = await runningOf(folder, state, now);
  const ended = running === null ? state.ended : null;
  return {
    job: id,
    state: running !== null ? 'running' : stateOf(state),
    pid: running?.pid ?? null,
    rate: running?.rate ?? null,
    seconds_left: running?.seconds_left ?? null,
    channel: meta.channel,
    source: meta.source,
    ...state.tally,
    credits: state.credits,
    base_url: meta.baseUrl,
    created_at: meta.created_at,
    ended_at: ended?.at ?? null,
    exit: ended?.exit ?? null,
  };
}

const stateOf = ({ finished, untouched }: JobView['state']) =>
  finished ? 'finished' : untouched ? 'new' : 'unfinished';

/** `damaged` gets the error of a job that cannot be read. */
export async function* jobRows(
  { config, clock }: Pick<Context, 'config' | 'clock'>,
  damaged: (error: CliError) => void,
): AsyncGenerator<JobRow> {
  for (const id of await jobIds(config.stateDirectory)) {
    try {
      yield await jobRow(await viewJob(config.stateDirectory, id), clock.now());
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      if (!isNoJob(error)) damaged(error);
    }
  }
}

export const jobView: View<JobRow> = {
  columns: [
    field('job'),
    field('state', { kind: 'status' }),
    field('pid', { kind: 'number', detail: true }),
    field('rate', { kind: 'number', detail: true }),
    field('seconds_left', { kind: 'number', detail: true }),
    field('channel', { detail: true }),
    field('source', { detail: true }),
    field('created_at', { kind: 'time' }),
    field('planned', { kind: 'number' }),
    field('accepted', { kind: 'number' }),
    field('rejected', { kind: 'number', detail: true }),
    field('failed', { kind: 'number', detail: true }),
    field('in_doubt', { kind: 'number', detail: true }),
    field('pending', { kind: 'number', detail: true }),
    field('credits', { kind: 'number', detail: true }),
    field('base_url', { detail: true }),
    field('ended_at', { kind: 'time', detail: true }),
    field('exit', { kind: 'number', detail: true }),
  ],
  card: [
    field('job'),
    field('state', { kind: 'status' }),
    field('pid'),
    { name: 'rate', value: ({ rate }) => (rate === null ? null : `${rate}/s`) },
    { name: 'time left', value: ({ seconds_left: left }) => (left === null ? null : duration(left)) },
    field('channel'),
    field('source'),
    field('base_url'),
    field('created_at', { kind: 'time' }),
    field('ended_at', { kind: 'time' }),
    ...counts<JobRow>('planned', ...outcomes, 'credits'),
  ],
  record: (row) => row,
  empty: 'No jobs.',
};

export interface JobDetails extends JobRow {
  batches: BatchFigures[];
}

export const jobDetailsView: View<JobDetails> = {
  columns: [
    ...jobView.columns,
    { name: 'batches', kind: 'number', value: ({ batches }) => batches.length, detail: true },
  ],
  ...(jobView.card === undefined ? {} : { card: jobView.card }),
  record: (row) => row,
};
