import type { JobSummary } from '../../bulk/results/summary.js';
import type { ExitCode } from '../../exit-codes.js';
import { counts, field, type View } from '../../output/view.js';
import { grouped } from '../../wording.js';

/** The result of a bulk command. */
export interface Summary extends JobSummary {
  exit: ExitCode;
}

/** The figures of a job that add up to `planned`. */
export const outcomes = ['accepted', 'rejected', 'failed', 'in_doubt', 'pending'] as const;

export const summaryView: View<Summary> = {
  columns: [
    field('job'),
    field('planned', { kind: 'number' }),
    field('accepted', { kind: 'number' }),
    field('rejected', { kind: 'number' }),
    field('failed', { kind: 'number' }),
    field('in_doubt', { kind: 'number' }),
    field('pending', { kind: 'number' }),
    field('merged', { kind: 'number' }),
    field('credits', { kind: 'number' }),
    field('balance', { kind: 'number' }),
    { name: 'batches', kind: 'number', value: ({ batches }) => batches.length },
    field('exit', { kind: 'number' }),
  ],
  card: [
    field('job'),
    ...counts<Summary>('planned', ...outcomes, 'merged'),
    { name: 'batches', value: ({ batches }) => (batches.length === 0 ? null : grouped(batches.length)) },
    { name: 'credits', value: ({ credits }) => grouped(credits) },
    { name: 'balance', value: ({ balance }) => (balance === null ? null : grouped(balance)) },
  ],
  record: (summary) => summary,
};
