import { csvLine } from '../csv/line.js';
import { keptColumns, reportColumns } from './csv-line.js';
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

async function* linesOf({ id, plan }: ReportedJob, receipts: Receipts): AsyncGenerator<string, void> {
  const { columns } = plan.meta;
  const kept = keptColumns(columns, reportColumns);
  yield csvLine([...kept.map((index) => columns[index] ?? ''), ...reportColumns]);
  for await (const { line, values, place, error } of plan.rows()) {
    const receipt =
      place === null
        ? { messageId: '', batchId: '', status: 'rejected', errorCode: error ?? '', credits: null }
        : receipts.of(place);
    yield csvLine([
      ...kept.map((index) => values[index] ?? ''),
      receipt.messageId,
      receipt.batchId,
      receipt.status,
      receipt.errorCode,
      receipt.credits === null ? '' : String(receipt.credits),
      String(line),
      '',
      id,
    ]);
  }
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
