import { byteOrderMark, csvLine } from '../../../contract/csv.js';
import { normalizeAddress, readNumber } from '../../../contract/index.js';
import { repairAddress, repairNumber } from '../input/repair.js';
import { addedNames, keptColumns, reportColumns } from '../input/report-columns.js';
import type { FrozenPlan, PlannedRow } from '../plan/plan.js';
import { RowSet } from '../plan/row-set.js';
import type { Receipts } from './receipts.js';

export interface ReportedJob {
  id: string;
  plan: FrozenPlan;
}

/** The cells of an input row, followed by its outcome. */
export type ReportRow = readonly (string | number | null)[];

/** Hides recipients and error texts on a shared screen. */
export interface ReportMask {
  recipient(text: string): string;
  /** `cells`: the cells of the row, which its error may quote. */
  error(text: string, cells: readonly string[]): string;
}

/** The report as CSV text, in blocks. */
export async function* reportBlocks(job: ReportedJob, receipts: Receipts): AsyncGenerator<string, void> {
  yield* inBlocks(linesOf(job, receipts));
}

/** The outcome of a row that is not in the plan. */
const leftOut = { id: '', batchId: '', credits: null, delivery: '' };

/** The outcome of every row of the input, in order. */
export async function* reportRows(
  { id, plan }: ReportedJob,
  receipts: Receipts,
  mask: ReportMask | null,
): AsyncGenerator<ReportRow, void> {
  const kept = await keptColumns(plan, reportColumns);
  const cellOf = mask === null ? (value: string) => value : masking(plan, mask);
  // Rows of the same recipient were merged into one message, which was charged once.
  const paid = plan.meta.merged > 0 ? new RowSet() : null;
  const creditsOf = (place: PlannedRow['place'], credits: number | null) => {
    if (paid === null || place === null || credits === null) return credits;
    const position = receipts.positionOf(place);
    if (paid.has(position)) return 0;
    paid.add(position);
    return credits;
  };
  for await (const { line, values, place, error } of plan.rows()) {
    const status = error === null ? 'excluded' : 'rejected';
    const receipt = place === null ? { ...leftOut, status, code: error ?? '' } : receipts.of(place);
    yield [
      ...kept.map((index) => cellOf(values[index] ?? '', index)),
      receipt.id || null,
      receipt.batchId || null,
      receipt.status,
      (mask === null ? receipt.code : mask.error(receipt.code, values)) || null,
      creditsOf(place, receipt.credits),
      line,
      receipt.delivery || null,
      id,
    ];
  }
}

/** Joins lines, so that a million lines do not need a million writes. */
export async function* inBlocks(lines: AsyncIterable<string>): AsyncGenerator<string, void> {
  let block = '';
  for await (const line of lines) {
    block += line;
    if (block.length < 65_536) continue;
    yield block;
    block = '';
  }
  yield block;
}

async function* linesOf(job: ReportedJob, receipts: Receipts): AsyncGenerator<string, void> {
  const { plan } = job;
  if (plan.input?.marked) yield byteOrderMark;
  yield csvLine(await columnNamesOf(plan));
  for await (const cells of reportRows(job, receipts, null)) {
    yield csvLine(cells.map((cell) => (cell === null ? '' : String(cell))));
  }
}

export async function columnNamesOf(plan: FrozenPlan): Promise<string[]> {
  const kept = (await keptColumns(plan, reportColumns)).map((index) => plan.meta.columns[index] ?? '');
  return [...kept, ...addedNames(reportColumns, kept)];
}

/** Earlier releases did not store the recipient column; for their jobs, every recipient is hidden. */
function masking({ input }: FrozenPlan, mask: ReportMask): (value: string, index: number) => string {
  const column = input?.recipient ?? null;
  const isHidden = (value: string, index: number) =>
    column === null ? isRecipient(value) : index === column;
  return (value, index) => (isHidden(value, index) ? mask.recipient(value) : value);
}

function isRecipient(value: string): boolean {
  if (readNumber(repairNumber(value).value).kind === 'number') return true;
  return normalizeAddress(repairAddress(value).value) !== null;
}
