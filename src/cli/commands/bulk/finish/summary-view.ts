import { outcomes } from '../../../bulk/job/counts.js';
import type { JobSummary } from '../../../bulk/results/summary.js';
import type { ExitCode } from '../../../exit-codes.js';
import { type Column, counts, field, type View } from '../../../output/view.js';
import { grouped } from '../../../text/wording.js';

/** The result of a bulk command. */
export interface Summary extends JobSummary {
  exit: ExitCode;
}

/** A column with the jobs that took rows. */
export const movedTo = <Row extends { moved_to: readonly string[] }>(): Column<Row> => ({
  name: 'moved_to',
  value: ({ moved_to: jobs }) => jobs.join(', ') || null,
});

export const summaryView: View<Summary> = {
  columns: [
    field('job'),
    field('planned', { kind: 'number' }),
    field('accepted', { kind: 'number' }),
    ...outcomes.map((name) => field<Summary>(name, { kind: 'number' })),
    movedTo(),
    field('merged', { kind: 'number' }),
    field('excluded', { kind: 'number' }),
    field('later', { kind: 'number' }),
    field('credits', { kind: 'number' }),
    field('balance', { kind: 'number' }),
    { name: 'batches', kind: 'number', value: ({ batches }) => batches.length },
    field('exit', { kind: 'number' }),
  ],
  card: [
    field('job'),
    ...counts<Summary>('planned', ...outcomes),
    movedTo(),
    ...counts<Summary>('merged', 'excluded', 'later'),
    { name: 'batches', value: ({ batches }) => (batches.length === 0 ? null : grouped(batches.length)) },
    { name: 'credits', value: ({ credits }) => grouped(credits) },
    { name: 'balance', value: ({ balance }) => (balance === null ? null : grouped(balance)) },
  ],
  record: (summary) => summary,
};
