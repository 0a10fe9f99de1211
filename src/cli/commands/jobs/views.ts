import { outcomes } from '../../bulk/job/counts.js';
import type { BatchFigures } from '../../bulk/results/summary.js';
import { localTime } from '../../output/cells.js';
import { type Column, counts, field, type View } from '../../output/view.js';
import { serviceAt } from '../bulk/base-url.js';
import { movedTo } from '../bulk/finish/summary-view.js';
import { type JobRow, stateText } from './job-rows.js';

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
    field('plan'),
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
    number('excluded'),
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
    ...counts<JobRow>('excluded', 'credits'),
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
