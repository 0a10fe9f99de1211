import { normalizeAddress, readNumber } from '../../../contract/index.js';
import { byteOrderMark, csvLine } from '../../csv/line.js';
import { masked, maskedError } from '../../output/mask.js';
import type { Cell, View } from '../../output/view.js';
import { repairAddress, repairNumber } from '../input/repair.js';
import { isOwnHeader, keptColumns, reportColumns } from '../input/report-columns.js';
import type { FrozenPlan } from '../plan/plan.js';
import type { Receipts } from './receipts.js';

export interface ReportedJob {
  id: string;
  plan: FrozenPlan;
}

/** One row of a report: the cells of the input's columns, then what became of it. */
export type ReportRow = readonly Cell[];

/** The report as the CSV text of a file, in pieces. */
export async function* reportBlocks(job: ReportedJob, receipts: Receipts): AsyncGenerator<string, void> {
  yield* inBlocks(linesOf(job, receipts));
}

/** The report in any format. */
export function reportView(plan: FrozenPlan): View<ReportRow> {
  const names = namesOf(plan);
  return {
    columns: names.map((name, index) => ({ name, value: (row) => row[index] })),
    record: (row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? null])),
  };
}

/** Of a row that was never part of the plan. */
const leftOut = { messageId: '', batchId: '', status: 'rejected', credits: null, delivery: '' };

/** What became of every row of the input, in its order. */
export async function* reportRows(
  { id, plan }: ReportedJob,
  receipts: Receipts,
  { mask }: { mask: boolean },
): AsyncGenerator<ReportRow, void> {
  const kept = keptOf(plan.meta.columns);
  const hide = mask ? hiding(plan) : (value: string) => value;
  for await (const { line, values, place, error } of plan.rows()) {
    const receipt = place === null ? { ...leftOut, errorCode: error ?? '' } : receipts.of(place);
    yield [
      ...kept.map(({ index }) => hide(values[index] ?? '', index)),
      receipt.messageId || null,
      receipt.batchId || null,
      receipt.status,
      (mask ? maskedError(receipt.errorCode) : receipt.errorCode) || null,
      receipt.credits,
      line,
      receipt.delivery || null,
      id,
    ];
  }
}

/** What an earlier report or rejects file added is written anew; a column of the person's own is kept. */
function keptOf(columns: readonly string[]): { index: number; name: string }[] {
  if (isOwnHeader(columns)) {
    return keptColumns(columns, reportColumns).map((index) => ({ index, name: columns[index] ?? '' }));
  }
  const taken = new Set([...columns, ...reportColumns]);
  return columns.map((column, index) => {
    if (!reportColumns.includes(column)) return { index, name: column };
    let name = `${column}_input`;
    while (taken.has(name)) name += '_input';
    taken.add(name);
    return { index, name };
  });
}

/** Texts put together, so that a million of them are not a million writes. */
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
  yield csvLine(namesOf(plan));
  for await (const cells of reportRows(job, receipts, { mask: false })) {
    yield csvLine(cells.map((cell) => (cell === null ? '' : String(cell))));
  }
}

function namesOf({ meta: { columns } }: FrozenPlan): string[] {
  return [...keptOf(columns).map(({ name }) => name), ...reportColumns];
}

/** Earlier releases did not keep which column has the recipients: then whatever can be sent to is hidden. */
function hiding({ input }: FrozenPlan): (value: string, index: number) => string {
  const recipient = input?.recipient ?? null;
  if (recipient !== null) return (value, index) => (index === recipient ? masked(value) : value);
  return (value) => (isRecipient(value) ? masked(value) : value);
}

function isRecipient(value: string): boolean {
  if (readNumber(repairNumber(value).value).kind === 'number') return true;
  return normalizeAddress(repairAddress(value).value) !== null;
}
