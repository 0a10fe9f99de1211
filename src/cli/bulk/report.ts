import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { csvLine } from '../csv/line.js';
import { machineError } from '../errors.js';
import { keptColumns } from './csv-line.js';
import { syncFolder } from './disk.js';
import type { FrozenPlan } from './plan.js';
import type { Receipts } from './receipts.js';

const added = ['message_id', 'batch_id', 'status', 'error_code', 'credits', 'line'];

/**
 * Writes the report of a job: the input's rows and columns, and what became of each. Whole or not at all;
 * throws CliError (exit 13) when the disk does not take it.
 */
export async function writeReport(path: string, plan: FrozenPlan, receipts: Receipts): Promise<void> {
  const beside = `${path}.${process.pid}.part`;
  try {
    const file = await open(beside, 'w', 0o600);
    try {
      for await (const block of reportBlocks(plan, receipts)) await file.appendFile(block);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(beside, { force: true }).catch(() => {});
    throw machineError(
      `the report ${path} could not be written`,
      error,
      'Make room, then: urtuu jobs report',
    );
  }
}

/** The report as text, in pieces. */
export function reportBlocks(plan: FrozenPlan, receipts: Receipts): AsyncGenerator<string, void> {
  return blocksOf(linesOf(plan, receipts));
}

async function* linesOf(plan: FrozenPlan, receipts: Receipts): AsyncGenerator<string, void> {
  const { columns } = plan.meta;
  const kept = keptColumns(columns, added);
  yield csvLine([...kept.map((index) => columns[index] ?? ''), ...added]);
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
