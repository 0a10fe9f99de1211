import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { recipientReader } from '../input/recipient-reader.js';
import { bindMessage, type Composer, type MessageTemplates } from './composer.js';
import { visitRecipients } from './files/body-recipients.js';
import { planFile } from './files/plan-format.js';
import { bodiesOf } from './files/plan-reader.js';
import { type MessageHash, messageHash, PairSet } from './pair-set.js';
import type { FrozenPlan } from './plan.js';
import { RowSet } from './row-set.js';

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
  gsm?: boolean | undefined;
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
  const composer = bindMessage(channel, list.templates, columns, list);
  for await (const { line, values } of kept.rows()) {
    const pair = (byLine[line] ?? 0) - 1;
    if (pair === -1 || reader.read(values[list.recipient] ?? '') !== null) continue;
    for (const tail of tailsOf(composer, values))
      pairs.addReading(pair, reader.normalized, messageHash(tail));
  }
}

/** The message of a row, and the one of the release at e5bfb29c if it was another one. */
function tailsOf(composer: Composer, values: readonly string[]): string[] {
  const message = composer.compose(values);
  const earlier = composer.reading?.changesIn(values) ? composer.reading.earlierTail(values) : null;
  return [...('tail' in message ? [message.tail] : []), ...(earlier === null ? [] : [earlier])];
}

/** The recipients of a plan with their messages, also with those of the release at e5bfb29c. */
export async function pairsOfReadings(plan: FrozenPlan): Promise<PairSet> {
  const pairs = await PairSet.of(plan);
  const { channel, columns, templates = {} } = plan.meta;
  const reader = recipientReader(channel);
  const composer = bindMessage(channel, templates, columns);
  for await (const { values, place } of plan.rows()) {
    if (place === null || reader.read(values[plan.input?.recipient ?? -1] ?? '') !== null) continue;
    const [tail = '', earlier] = tailsOf(composer, values);
    const pair = pairs.find(reader.normalized, messageHash(tail));
    if (pair !== -1 && earlier !== undefined) pairs.addReading(pair, reader.normalized, messageHash(earlier));
  }
  return pairs;
}

/** Whether an earlier plan sends the same recipients the same messages, in either reading. */
export async function sendsTheSame(pairs: PairSet, earlier: FrozenPlan): Promise<boolean> {
  const found = new RowSet();
  for await (const { body } of bodiesOf(earlier)) {
    let isSame = true;
    let message: MessageHash | undefined;
    visitRecipients(body, (text, from, end, at) => {
      message ??= messageHash(body, at);
      const pair = isSame ? pairs.find(text, message, from, end) : -1;
      if (pair === -1) isSame = false;
      else found.add(pair);
    });
    if (!isSame) return false;
  }
  return found.size === pairs.length;
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
