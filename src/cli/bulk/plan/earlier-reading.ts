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
  const composer = bindMessage(channel, list.templates, columns, list);
  for await (const { line, to, tails } of readRows(kept, composer, list.recipient)) {
    const pair = (byLine[line] ?? 0) - 1;
    if (pair !== -1) for (const tail of tails) pairs.addReading(pair, to, messageHash(tail));
  }
}

/** The rows of a plan, each with its message, and the one of the release at e5bfb29c if it was another one. */
async function* readRows(plan: FrozenPlan, composer: Composer, recipient: number) {
  const reader = recipientReader(plan.meta.channel);
  for await (const { line, values } of plan.rows()) {
    if (reader.read(values[recipient] ?? '') !== null) continue;
    const message = composer.compose(values);
    const earlier = composer.reading?.changesIn(values) ? composer.reading.earlierTail(values) : null;
    const tails = ['tail' in message ? message.tail : null, earlier].filter((tail) => tail !== null);
    yield { line, to: reader.normalized, tails };
  }
}

/** The recipients of a plan with their messages, also with those of the release at e5bfb29c. */
export async function pairsOfReadings(plan: FrozenPlan): Promise<PairSet> {
  const pairs = await PairSet.of(plan);
  const { channel, columns, templates = {} } = plan.meta;
  const composer = bindMessage(channel, templates, columns);
  for await (const { to, tails } of readRows(plan, composer, plan.input?.recipient ?? -1)) {
    const [tail = '', earlier] = tails;
    const pair = pairs.find(to, messageHash(tail));
    if (pair !== -1 && earlier !== undefined) pairs.addReading(pair, to, messageHash(earlier));
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
