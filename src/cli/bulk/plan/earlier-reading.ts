import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { recipientReader } from '../input/recipient-reader.js';
import { bindMessage, type MessageTemplates, parseTemplates } from './composer.js';
import { planFile } from './files/plan-format.js';
import { messageHash, type PairSet } from './pair-set.js';
import type { FrozenPlan } from './plan.js';

/** A list as this version reads it. */
export interface ListRead {
  /** Absent for standard input. */
  path?: string | undefined;
  columns: readonly string[];
  /** Index of the recipient column. */
  recipient: number;
  /** Name of the sheet; null for CSV. */
  sheet: string | null;
  templates: MessageTemplates;
  /** By line, the number of its row's pair and one more; 0 for none. */
  pairsByLine(): Uint32Array;
}

/**
 * Adds the rows of a sheet as the version that made an earlier plan of it read them: it may have shown dates and
 * amounts otherwise. A plan has only what was read in the workbook, which must not have been written since.
 */
export async function addEarlierReading(pairs: PairSet, kept: FrozenPlan, list: ListRead): Promise<void> {
  if (!(await isSameSheet(kept, list))) return;
  const { channel, columns } = kept.meta;
  const byLine = list.pairsByLine();
  const reader = recipientReader(channel);
  const composer = bindMessage(channel, parseTemplates(channel, list.templates), columns);
  for await (const { line, values } of kept.rows()) {
    const pair = (byLine[line] ?? 0) - 1;
    if (pair === -1 || reader.read(values[list.recipient] ?? '') !== null) continue;
    const message = composer.compose(values);
    if ('tail' in message) pairs.addReading(pair, reader.normalized, messageHash(message.tail));
  }
}

async function isSameSheet({ folder, meta, input }: FrozenPlan, list: ListRead): Promise<boolean> {
  const { path, columns, recipient, sheet } = list;
  const isSame =
    sheet !== null &&
    input?.sheet?.name === sheet &&
    path !== undefined &&
    meta.path === path &&
    input.recipient === recipient &&
    meta.columns.join('\n') === columns.join('\n');
  if (!isSame) return false;
  const saved = (await stat(path).catch(() => null))?.mtimeMs ?? Number.POSITIVE_INFINITY;
  // By one clock: `created_at` is the service's.
  return saved <= (await stat(join(folder, planFile))).mtimeMs;
}
