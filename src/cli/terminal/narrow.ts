import { betweenWords } from './wrap.js';

/** Columns for which pages of help are written. */
const pageColumns = 80;

/** A page of help for a terminal with fewer columns: paragraphs are rewrapped, and commands are never broken. */
export function narrowed(page: string, columns: number): string {
  if (columns >= pageColumns) return page;
  return paragraphs(page.split('\n'))
    .map((line) => filled(line, columns))
    .join('\n');
}

/** Joins lines that were broken at the page's width. */
function paragraphs(lines: readonly string[]): string[] {
  const whole: string[] = [];
  let before = '';
  for (const line of lines) {
    const text = line.trimStart();
    const [word = ''] = text.split(' ');
    const isFull = before !== '' && text !== '' && before.length + 1 + word.length > pageColumns;
    const first = whole.at(-1) ?? '';
    if (isFull && line.length - text.length === indentBelow(first))
      whole[whole.length - 1] = `${first} ${text}`;
    else whole.push(line);
    before = line;
  }
  return whole;
}

/**
 * The indentation of a continued line: the last column of its table, or the indentation of the line; two for fields
 * of JSON.
 */
function indentBelow(line: string): number {
  const [columns = ''] = /^.*\S {2,}(?=\S)/.exec(line) ?? [];
  if (columns !== '') return columns.length;
  return line.startsWith('JSON fields') ? 2 : line.length - line.trimStart().length;
}

/** A line of a script, which people copy. */
const isCode = (line: string, hasColumns: boolean) =>
  /\S +#|;;/.test(line) || (!hasColumns && /^ .*\burtuu /.test(line));

const comment = '  # ';

function filled(line: string, columns: number): string {
  const below = indentBelow(line);
  const begins = line.length - line.trimStart().length;
  if (line.length <= columns || isCode(line, below > begins)) return line;
  // There is no room below a wide column.
  const isWide = below > columns / 2;
  const next = line.startsWith(comment) ? comment : ' '.repeat(isWide ? begins + 4 : below);
  const lines: string[] = [];
  let last = isWide ? `${line.slice(0, below).trimEnd()}  ` : line.slice(0, below);
  for (const word of line.slice(below).split(betweenWords)) {
    const isEmpty = last.trim() === '' || last.endsWith(' ');
    if (last.length + (isEmpty ? 0 : 1) + word.length > columns && last.trim() !== '') {
      lines.push(last.trimEnd());
      last = next + word;
    } else last += isEmpty ? word : ` ${word}`;
  }
  return [...lines, last].join('\n');
}
