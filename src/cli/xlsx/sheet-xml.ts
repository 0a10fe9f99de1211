import { columnLetters } from './cell-reference.js';

/** Null is an empty cell. A time is shown in this machine's time zone. */
export type SheetCell = string | number | Date | null;

/** Excel treats a workbook with a longer text as damaged. */
const longestText = 32_767;
const mostColumns = 16_384;

/** A row that does not fit in a workbook; the message continues `cannot write report.xlsx: `. */
export class UnfitRow extends Error {
  override readonly name = 'UnfitRow';
}

const format = (attributes: string) => `<xf ${attributes} fillId="0" borderId="0" xfId="0"/>`;
const font = (bold: string) => `<font>${bold}<sz val="11"/><name val="Calibri"/></font>`;
/** Cell formats: 0 numbers, 1 texts, 2 times, 3 column names. */
export const stylesXml = [
  '<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>',
  `<fonts count="2">${font('')}${font('<b/>')}</fonts>`,
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>',
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>',
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>',
  `<cellXfs count="4">${format('numFmtId="0" fontId="0"')}${format('numFmtId="49" fontId="0" applyNumberFormat="1"')}`,
  format('numFmtId="164" fontId="0" applyNumberFormat="1"'),
  `${format('numFmtId="49" fontId="1" applyNumberFormat="1" applyFont="1"')}</cellXfs>`,
  '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>',
].join('');

/** Keeps the column names visible. */
export const beforeRows = [
  '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>',
  `</sheetView></sheetViews><cols><col min="1" max="${mostColumns}" width="16" customWidth="1"/></cols><sheetData>`,
].join('');
/** Suppresses the warning about numbers stored as text, which is intended. */
export const afterRows =
  '</sheetData><ignoredErrors><ignoredError sqref="A1:XFD1048576" numberStoredAsText="1"/></ignoredErrors>';

const letters: string[] = [];
const letterOf = (column: number) => {
  letters[column] ??= columnLetters(column);
  return letters[column];
};

export function headerXml(names: readonly string[]): string {
  if (names.length > mostColumns) throw new UnfitRow(`it has over ${mostColumns} columns`);
  return rowXml(1, names).replaceAll(' s="1"', ' s="3"');
}

export function rowXml(row: number, cells: readonly SheetCell[]): string {
  let xml = `<row r="${row}">`;
  for (let column = 0; column < cells.length; column += 1) {
    const cell = cells[column] ?? '';
    if (cell === '') continue;
    const place = `<c r="${letterOf(column)}${row}"`;
    if (typeof cell === 'number') xml += `${place}><v>${cell}</v></c>`;
    else if (typeof cell === 'string') xml += `${place} s="1" t="inlineStr"><is>${textXml(cell)}</is></c>`;
    else xml += `${place} s="2"><v>${serialOf(cell)}</v></c>`;
  }
  return `${xml}</row>`;
}

function textXml(text: string): string {
  if (text.length > longestText) throw new UnfitRow(`a text in it has over ${longestText} characters`);
  if (!special.test(text)) return `<t>${text}</t>`;
  const xml = text
    .replace(/[&<>]/g, (mark) => entities[mark] ?? '')
    .replace(unwritable, (mark) => `_x${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`);
  return `<t xml:space="preserve">${xml}</t>`;
}

const special = /[&<>\0-\x1f\ud800-\udfff\ufffe\uffff]|_x|^\s|\s$/;
/** Characters that XML cannot contain, and texts that would be read as one of them. */
const unwritable = /[\0-\x08\x0b-\x1f\ufffe\uffff]|\p{Surrogate}|_(?=x[0-9A-Fa-f]{4}_)/gu;
const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Excel has no time zones. */
function serialOf(time: Date): number {
  return (time.getTime() - time.getTimezoneOffset() * 60_000) / 86_400_000 + 25_569;
}
