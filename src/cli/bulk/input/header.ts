import { grouped } from '../../text/wording.js';
import { InputError } from './input-error.js';

/** A header name for comparison: without case, surrounding spaces and separators of words. */
export function plainName(name: string): string {
  return name
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\s._:*-]+/g, ' ')
    .trim();
}

const listedNames = 20;

/** `a, b, c`, cut after the first 20 names. */
export function listed(names: readonly string[]): string {
  const first = names.slice(0, listedNames).join(', ');
  const more = names.length - listedNames;
  return more > 0 ? `${first} and ${grouped(more)} more` : first;
}

export const columnsHint = (names: readonly string[]) => `Columns: ${listed(names)}.`;

/** The indexes of the fields in a header row that are names. */
export function namedFields(record: readonly string[]): number[] {
  return [...record.keys()].filter((index) => record[index]?.trim() !== '');
}

/** The trimmed names in a header row. Throws InputError for a duplicate name. */
export function readColumnNames(names: readonly string[], source: string, line: number): string[] {
  const columns = names.map((name) => name.normalize('NFC').trim());
  const hint = 'Give every column its own name, or use --headerless.';
  const seen = new Set<string>();
  const duplicate = columns.find((name) => seen.size === seen.add(name).size);
  if (duplicate !== undefined) {
    throw new InputError('columns', source, `duplicate column ${duplicate}`, hint, { line });
  }
  return columns;
}

/** Names for the columns of a file without a header: 1, 2, 3 ... */
export function numberedColumns(count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(index + 1));
}

const none: ReadonlySet<number> = new Set();

/** Index of a column by its exact name, else by its plain name if that is unique; -1 for none. */
export function columnNamed(columns: readonly string[], name: string, hidden = none): number {
  const wanted = name.normalize('NFC').trim();
  const exact = columns.indexOf(wanted);
  if (exact !== -1 && !hidden.has(exact)) return exact;
  const isAlike = (index: number) => plainName(columns[index] ?? '') === plainName(wanted);
  const alike = [...columns.keys()].filter((index) => isAlike(index) && !hidden.has(index));
  return alike.length === 1 ? (alike[0] ?? -1) : -1;
}
