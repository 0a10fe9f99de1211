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
