import { unguard } from '../../../../contract/csv.js';
import type { Job } from '../../../bulk/job/open-job.js';
import type { PlanMeta } from '../../../bulk/plan/plan.js';
import type { ReportRow } from '../../../bulk/results/report.js';
import { summaryOf } from '../../../bulk/results/summary.js';
import { machineError } from '../../../errors.js';
import { exits } from '../../../exit-codes.js';
import type { Cell, Column } from '../../../output/view.js';
import { grouped } from '../../../text/wording.js';
import { isWorkbookName, mostSheetRows } from '../../../xlsx/report-workbook.js';
import type { SheetCell } from '../../../xlsx/sheet-xml.js';
import { summaryView } from './summary-view.js';

/** A report as a workbook: its rows with the chosen columns, and a sheet with the job's figures. */
export async function* workbookReport(
  job: Job,
  rows: AsyncIterable<ReportRow>,
  columns: readonly Column<ReportRow>[],
): AsyncGenerator<Buffer, void> {
  const [{ UnfitRow }, { workbookOf }] = await Promise.all([
    import('../../../xlsx/sheet-xml.js'),
    import('../../../xlsx/workbook.js'),
  ]);
  const names = columns.map(({ name }) => name);
  const report = { name: 'Report', columns: names, rows: cellsOf(rows, columns) };
  const summary = { name: 'Summary', columns: ['figure', 'value'], rows: figuresOf(job) };
  try {
    yield* workbookOf(report, summary);
  } catch (error) {
    if (!(error instanceof UnfitRow)) throw error;
    throw machineError(
      `the report does not fit in a workbook (${error.message}): name a file that ends in .csv`,
      error,
    );
  }
}

/** Text for people if the report needs several sheets; null if it does not. */
export function sheetsText(
  report: string | undefined,
  {
    recipients,
    merged,
    rejected,
    excluded = 0,
  }: Pick<PlanMeta, 'recipients' | 'merged' | 'rejected' | 'excluded'>,
): string | null {
  const rows = recipients + merged + rejected + excluded;
  if (report === undefined || !isWorkbookName(report) || rows <= mostSheetRows) return null;
  return `${Math.ceil(rows / mostSheetRows)} sheets, since one holds ${grouped(mostSheetRows)} rows`;
}

async function* cellsOf<Row>(
  rows: AsyncIterable<Row>,
  columns: readonly Column<Row>[],
): AsyncGenerator<SheetCell[]> {
  for await (const row of rows) yield columns.map(({ value }) => kept(plain(value(row))));
}

async function* figuresOf(job: Job): AsyncGenerator<SheetCell[]> {
  const { channel, source, created_at: created } = job.meta;
  yield ['job', job.id];
  yield ['channel', channel];
  yield ['source', source];
  yield ['created_at', new Date(created)];
  const summary = { ...summaryOf(job), exit: exits.ok };
  for (const { name, value } of summaryView.columns) {
    if (name !== 'job' && name !== 'exit') yield [name, plain(value(summary))];
  }
}

/** Readers of reports remove the guard against formulas: a text that looks guarded gets another guard. */
const kept = (cell: SheetCell) => (typeof cell === 'string' && unguard(cell) !== cell ? `'${cell}` : cell);

const plain = (cell: Cell): SheetCell => (typeof cell === 'boolean' ? String(cell) : (cell ?? null));
