import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { InputError } from '../../../src/cli/bulk/input/input-error.js';
import { planIn, requestsOf } from '../../cli/bulk/plan-in.js';
import type { ExportedList } from '../../corpus/exports.js';
import type { CorpusFile } from '../../corpus/make.js';
import { outcomeOf } from '../../corpus/outcome.js';

/** Reads a file in blocks of so many bytes; null where it refuses it. */
export type Reader = (file: CorpusFile, blockBytes: number) => Promise<Sent[] | null>;

export interface Sent {
  number: string;
  text: string;
}

/** The numbers and texts that a right outcome sends. */
export function sentOf(outcome: Awaited<ReturnType<typeof outcomeOf>>): Sent[] | null {
  if ('refused' in outcome) return null;
  return outcome.numbers.map((number, at) => ({ number, text: outcome.texts[at] ?? '' }));
}

export const shipped: Reader = async (file, blockBytes) => sentOf(await outcomeOf(file, blockBytes));

/** Takes what is not readable for windows-1251. */
export const guessing: Reader = async (file, blockBytes) => {
  const outcome = await outcomeOf(file, blockBytes);
  if (!('refused' in outcome) || outcome.refused !== 'encoding') return sentOf(outcome);
  const bytes = Buffer.from(new TextDecoder('windows-1251').decode(file.bytes));
  return sentOf(await outcomeOf({ name: file.name, bytes, expected: file.expected }, blockBytes));
};

/** A reader as one writes it in an afternoon: what is not a digit is left out of a number. */
export const onlyDigits: Reader = async ({ bytes, encoding = 'utf-8' }) => {
  const [, ...lines] = new TextDecoder(encoding).decode(bytes).split(/\r\n|\r|\n/);
  const sent = lines.map((line) => {
    const [cell = '', text = ''] = line.split(/[,;\t|]/);
    return { number: cell.replace(/\D/g, '').slice(-8), text };
  });
  return sent.filter(({ number }) => number.length === 8);
};

/** Reads an exported list in blocks of so many bytes; null where it refuses it. */
export type ListReader = (list: ExportedList, blockBytes: number) => Promise<Sent[] | null>;

export const shippedLists: ListReader = (list, blockBytes) => planList(list, blockBytes);

/** Takes no row without its last fields, and no column without a name. */
export const strictLists: ListReader = (list, blockBytes) =>
  planList(list, blockBytes, ({ columns, shortRows }) => columns === 0 && shortRows === 0);

async function planList(
  { file, bytes, channel, options, text }: ExportedList,
  blockBytes: number,
  isTaken: (unread: { columns: number; shortRows: number }) => boolean = () => true,
): Promise<Sent[] | null> {
  const folder = mkdtempSync(join(tmpdir(), 'urtuu-lists-'));
  try {
    const message = { text, ...(channel === 'email' ? { subject: 'Hi' } : {}) };
    const given = { channel, source: file, blockBytes, ...message, ...options };
    const outcome = await planIn(join(folder, 'plan'), bytes, given);
    if (!isTaken(outcome.unread)) return null;
    const requests = await requestsOf(outcome);
    return requests.flatMap(({ to, body }) => to.map((number) => ({ number, text: JSON.parse(body).text })));
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A reader as one writes it in an afternoon: the values of a CSV file as they stand there. */
export const unreadValues: ListReader = async ({ file, bytes, channel, options, text }) => {
  if (!file.endsWith('.csv')) return null;
  const [header = [], ...rows]: string[][] = parse(new TextDecoder(options.encoding).decode(bytes), {
    delimiter: [',', ';'],
    relax_column_count: true,
    relax_quotes: true,
  });
  const to = header.findIndex((name) => (channel === 'sms' ? /phone|mobile|утас/i : /mail/i).test(name));
  return rows.map((row) => ({
    number: row[to] ?? '',
    text: text.replace(/\{(.+?)\}/g, (_, name) => row[header.indexOf(name)] ?? ''),
  }));
};
