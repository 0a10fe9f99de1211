import { csvLine } from '../../csv/line.js';
import { keptColumns } from '../csv-line.js';
import { describe } from '../input/input-error.js';
import type { FrozenPlan } from '../plan.js';
import { BlockFile } from './block-file.js';
import type { Disk } from './disk.js';

export interface Rejects {
  /** Rows that cannot be sent. */
  count: number;
  /** `file:line: column: what is wrong` of the first of them. */
  first: string[];
  /** The CSV file with all of them: the input's own columns, `line` and `error`; null when there are none. */
  file: string | null;
}

const shownRejects = 100;
const added = ['line', 'error'];

/** Writes the rows that were left out to a file, beside first and then in its place. */
export async function writeRejects(plan: FrozenPlan, path: string, disk: Disk): Promise<Rejects> {
  const { columns, source } = plan.meta;
  const beside = `${path}.part`;
  disk.remove(beside);
  const file = new BlockFile(disk, beside, { sealed: false });
  const rejects: Rejects = { count: 0, first: [], file: path };
  const kept = keptColumns(columns, added);
  try {
    file.appendText(csvLine([...kept.map((index) => columns[index] ?? ''), ...added]));
    for await (const { line, values, error } of plan.rows()) {
      if (error === null) continue;
      rejects.count += 1;
      if (rejects.first.length < shownRejects) rejects.first.push(describe(source, error, { line }));
      const extra = values.slice(columns.length);
      file.appendText(csvLine([...kept.map((index) => values[index] ?? ''), ...extra, String(line), error]));
    }
    file.seal();
  } catch (error) {
    file.close();
    throw error;
  }
  disk.rename(beside, path);
  return rejects;
}
