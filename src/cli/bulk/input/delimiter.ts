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
  const end = rowEnd(bytes, start);
  if (end === bytes.length && !whole) return null;
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
  const counts = delimiters.map((delimiter) => countOutsideQuotes(line, delimiter));
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

function rowEnd(bytes: Buffer, from: number): number {
  let quoted = false;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) quoted = !quoted;
    else if (!quoted && (byte === cr || byte === lf)) return at;
  }
  return bytes.length;
}

function lineAt(bytes: Buffer, offset: number): number {
  return bytes.toString('latin1', 0, offset).split(/\r\n|\r|\n/).length;
}

function countOutsideQuotes(line: string, delimiter: string): number {
  let count = 0;
  let quoted = false;
  for (const character of line) {
    if (character === '"') quoted = !quoted;
    else if (character === delimiter && !quoted) count += 1;
  }
  return count;
}
