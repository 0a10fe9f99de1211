import { InputError } from './input-error.js';

export const delimiters = [',', ';', '\t', '|'] as const;
export type Delimiter = (typeof delimiters)[number];

export interface DetectedDelimiter {
  delimiter: Delimiter;
  /** Bytes to skip: a `sep=` line, which is not a row. */
  skip: number;
  /** Line of the first row: 1, or 2 after a `sep=` line. */
  firstLine: number;
}

const quote = 0x22;
const cr = 0x0d;
const lf = 0x0a;

/** The delimiter for a name in `--delimiter` or a `sep=` line; null for an unknown name. */
export function delimiterNamed(name: string): Delimiter | null {
  const named: Record<string, Delimiter> = {
    comma: ',',
    semicolon: ';',
    tab: '\t',
    '\\t': '\t',
    pipe: '|',
    bar: '|',
  };
  return named[name.toLowerCase()] ?? delimiters.find((delimiter) => delimiter === name) ?? null;
}

function showDelimiter(delimiter: Delimiter): string {
  return delimiter === '\t' ? 'tab' : delimiter;
}

/**
 * Detects the delimiter in the first row: `given`, else from a `sep=` line, else the most frequent of `, ; tab |`
 * outside quotes. `bytes` is the start of the input; `whole` if it is all of it. Null until the row is whole. Throws
 * InputError.
 */
export function detectDelimiter(
  bytes: Buffer,
  whole: boolean,
  given: Delimiter | undefined,
  source: string,
): DetectedDelimiter | null {
  const refuse = (what: string) =>
    new InputError(
      'delimiter',
      source,
      what,
      'Choose one with --delimiter (comma, semicolon, tab or pipe).',
      { line: 1 },
    );
  const start = rowStart(bytes);
  const { end, isEnded, counts } = scanRow(bytes, start);
  if (!isEnded && !whole) return null;
  const line = bytes.toString('utf8', start, end);
  const separator = /^"?sep=(.)"?$/i.exec(line)?.[1];
  if (separator !== undefined) {
    const after = bytes[end] === cr && bytes[end + 1] === lf ? end + 2 : end + 1;
    const delimiter = given ?? delimiterNamed(separator);
    if (delimiter === null) throw refuse(`unknown delimiter: sep=${separator}`);
    // The CR of a CRLF may be the last byte so far.
    if (after === bytes.length && bytes[end] === cr && !whole) return null;
    return { delimiter, skip: after, firstLine: lineAt(bytes, after) };
  }
  if (given !== undefined) return { delimiter: given, skip: 0, firstLine: 1 };
  const most = Math.max(...counts);
  const best = delimiters.filter((_, index) => most > 0 && counts[index] === most);
  if (best.length > 1) throw refuse(`ambiguous delimiter: ${best.map(showDelimiter).join(' and ')}`);
  return { delimiter: best[0] ?? ',', skip: 0, firstLine: 1 };
}

function rowStart(bytes: Buffer): number {
  let at = 0;
  while (bytes[at] === cr || bytes[at] === lf) at += 1;
  return at;
}

const space = 0x20;
const delimiterBytes = delimiters.map((delimiter) => delimiter.charCodeAt(0));

interface ScannedRow {
  end: number;
  /** Whether it ends in a line end. */
  isEnded: boolean;
  /** How many of each delimiter are outside quotes. */
  counts: number[];
}

/** Finds the end of a row. A quote opens only at the beginning of a field, after blanks; one that is not closed is text. */
function scanRow(bytes: Buffer, from: number): ScannedRow {
  const counts = delimiters.map(() => 0);
  let isQuoted = false;
  let opens = true;
  let firstBreak = -1;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    const isBreak = byte === cr || byte === lf;
    if (isQuoted) {
      if (isBreak && firstBreak === -1) firstBreak = at;
      if (byte !== quote) continue;
      if (bytes[at + 1] === quote) at += 1;
      else isQuoted = false;
      continue;
    }
    if (isBreak) return { end: at, isEnded: true, counts };
    isQuoted = byte === quote && opens;
    const which = delimiterBytes.indexOf(byte);
    if (which !== -1) counts[which] = (counts[which] ?? 0) + 1;
    opens = which !== -1 || (opens && byte === space);
  }
  return { end: isQuoted && firstBreak !== -1 ? firstBreak : bytes.length, isEnded: false, counts };
}

/** Where the row after the skipped ones begins, which are counted as a spreadsheet does; null while unknown. */
export function afterRows(bytes: Buffer, rows: number, whole: boolean): number | null {
  let at = 0;
  for (let row = 0; row < rows; row += 1) {
    const { end, isEnded } = scanRow(bytes, at);
    // An LF may follow a CR.
    if (!whole && (!isEnded || end + 1 === bytes.length)) return null;
    at = end + (bytes[end] === cr && bytes[end + 1] === lf ? 2 : 1);
  }
  return Math.min(at, bytes.length);
}

export function lineAt(bytes: Buffer, offset: number): number {
  return bytes.toString('latin1', 0, offset).split(/\r\n|\r|\n/).length;
}
