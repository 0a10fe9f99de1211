import type { ExitCode } from '../../exit-codes.js';
import { counts, field, type View } from '../../output/view.js';
import { grouped } from '../../wording.js';
import type { JobState, Tally } from '../job/job-state.js';
import type { Entry } from '../job/journal.js';
import type { PlanMeta } from '../plan/plan.js';

/** A batch of a job, as far as its job knows. */
export interface BatchFigures {
  id: string;
  recipients: number;
  credits: number;
  /** Null until `--wait` has seen its end. */
  sent: number | null;
  failed: number | null;
}

/** The result of a bulk command. accepted + rejected + failed + in_doubt + pending = planned. */
export interface Summary extends Tally {
  job: string;
  merged: number;
  /** Charged for what was accepted. */
  credits: number;
  /** As last seen; null when no answer has told it. */
  balance: number | null;
  batches: BatchFigures[];
  exit: ExitCode | null;
}

export async function summaryOf(
  job: string,
  meta: PlanMeta,
  table: JobState,
  journal: { replay(onEntry: (entry: Entry) => void): Promise<void> },
  exit: ExitCode | null,
): Promise<Summary> {
  const batches = await batchesIn(journal, table);
  const { credits, balance, tally } = table;
  return { job, ...tally, merged: meta.merged, credits, balance, batches, exit };
}

/** The batches of a job, in the order they were accepted. */
export async function batchesIn(
  journal: { replay(onEntry: (entry: Entry) => void): Promise<void> },
  table: JobState,
): Promise<BatchFigures[]> {
  const batches = new Map<number, BatchFigures>();
  await journal.replay((entry) => {
    if (entry[0] === 'accepted' && entry[5] === 'batch') {
      const recipients = table.recipients(entry[1]);
      batches.set(entry[1], { id: entry[3], recipients, credits: entry[4], sent: null, failed: null });
    }
    if (entry[0] === 'alarm') batches.delete(entry[1]);
    const batch = entry[0] === 'final' ? batches.get(entry[1]) : undefined;
    if (batch && entry[0] === 'final') Object.assign(batch, { sent: entry[2], failed: entry[3] });
  });
  return [...batches.values()];
}

/** What became of the recipients of a job. */
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
