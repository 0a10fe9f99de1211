import { csvLine } from '../csv/line.js';
import { isOwnHeader, keptColumns, reportColumns } from './csv-line.js';
import type { FrozenPlan } from './plan.js';
import type { Receipts } from './receipts.js';

export interface ReportedJob {
  id: string;
  plan: FrozenPlan;
}

/** The report as text, in pieces. */
export function reportBlocks(job: ReportedJob, receipts: Receipts): AsyncGenerator<string, void> {
  return blocksOf(linesOf(job, receipts));
}

/** Of a row that was never part of the plan. */
const leftOut = { messageId: '', batchId: '', status: 'rejected', credits: null, delivery: '' };

async function* linesOf({ id, plan }: ReportedJob, receipts: Receipts): AsyncGenerator<string, void> {
  const { columns } = plan.meta;
  const kept = keptOf(columns);
  yield csvLine([...kept.map(({ name }) => name), ...reportColumns]);
  for await (const { line, values, place, error } of plan.rows()) {
    const receipt = place === null ? { ...leftOut, errorCode: error ?? '' } : receipts.of(place);
    yield csvLine([
      ...kept.map(({ index }) => values[index] ?? ''),
      receipt.messageId,
      receipt.batchId,
      receipt.status,
      receipt.errorCode,
      receipt.credits === null ? '' : String(receipt.credits),
      String(line),
      receipt.delivery,
      id,
    ]);
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

/** Lines put together, so that a million of them are not a million writes. */
async function* blocksOf(lines: AsyncIterable<string>): AsyncGenerator<string, void> {
  let block = '';
  for await (const line of lines) {
    block += line;
    if (block.length < 65_536) continue;
    yield block;
    block = '';
  }
  yield block;
}
