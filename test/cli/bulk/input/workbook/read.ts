import type { CellError } from '../../../../../src/cli/bulk/input/cell-error.js';
import { MemoryStore } from '../../../../../src/cli/bulk/input/workbook/archive.js';
import {
  readWorkbook,
  type WorkbookReading,
} from '../../../../../src/cli/bulk/input/workbook/read-workbook.js';

export interface ReadRow {
  row: number;
  record: string[];
  faults: CellError[];
}

export interface Reading extends WorkbookReading {
  rows: ReadRow[];
}

/** Reads the bytes of a workbook, in blocks of a size. */
export async function read(
  bytes: Uint8Array,
  {
    sheet,
    headerless,
    blockBytes = 65_536,
  }: { sheet?: string; headerless?: boolean; blockBytes?: number } = {},
): Promise<Reading> {
  const rows: ReadRow[] = [];
  async function* blocks() {
    for (let at = 0; at < bytes.length; at += blockBytes) yield bytes.subarray(at, at + blockBytes);
  }
  const options = { sheet, headerless, store: () => new MemoryStore() };
  const reading = await readWorkbook(blocks(), options, () => (record, row, faults) => {
    rows.push({ row, record: [...record], faults: [...faults] });
  });
  return { ...reading, rows };
}

export const recordsOf = async (...read_: Parameters<typeof read>): Promise<string[][]> =>
  (await read(...read_)).rows.map(({ record }) => record);
