import { type JobView, jobIds, viewJob } from '../../bulk/job.js';
import { type BatchFigures, outcomes } from '../../bulk/summary.js';
import { CliError } from '../../errors.js';
import { counts, field, type View } from '../../output/view.js';

/** A job in a list. */
export interface JobRow {
  job: string;
  state: 'new' | 'unfinished' | 'finished';
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

export function jobRow({ id, meta, table }: JobView): JobRow {
  return {
    job: id,
    state: table.finished ? 'finished' : table.untouched ? 'new' : 'unfinished',
    channel: meta.channel,
    source: meta.source,
    ...table.tally,
    credits: table.credits,
    base_url: meta.baseUrl,
    created_at: meta.created_at,
    ended_at: table.ended?.at ?? null,
    exit: table.ended?.exit ?? null,
  };
}

/** One that cannot be read is told of, and does not hide the others. */
export async function* jobRows(
  stateDirectory: string,
  damaged: (error: CliError) => void,
): AsyncGenerator<JobRow> {
  for (const id of await jobIds(stateDirectory)) {
    try {
      yield jobRow(await viewJob(stateDirectory, id));
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      damaged(error);
    }
  }
}

export const jobView: View<JobRow> = {
  columns: [
    field('job'),
    field('state', { kind: 'status' }),
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
    field('channel'),
    field('source'),
    field('base_url'),
    field('created_at', { kind: 'time' }),
    field('ended_at', { kind: 'time' }),
    ...counts<JobRow>('planned', ...outcomes, 'credits'),
  ],
  record: (row) => row,
  empty: 'There are no jobs.',
};

/** A job by itself, with its batches. */
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
