import { quoted } from './input-error.js';

export interface CellError {
  /** Index in the record; null for a cell outside the table's columns. */
  field: number | null;
  /** Letters of the sheet's column; '' in CSV. */
  letters: string;
  error: string;
  /** Whether merged cells of a sheet hide the value. */
  isHidden?: boolean;
}

export const errorValue = (value: string) => `${value} is an error, not a value`;
export const hiddenValue = (value: string) =>
  `${quoted(value)} is hidden under merged cells: unmerge them, or clear it`;
/** In a rejects file or report, where nothing is merged. */
const wasHidden = (value: string) =>
  `${quoted(value)} was hidden under merged cells: to send it, clear the error of its row`;
export const noStoredValue = 'the formula has no stored value: open the file in Excel and save it again';

/** What spreadsheets show in place of a value: Excel in English, Russian, German, French and Spanish, LibreOffice. */
const errorNames = new Set(
  `#NULL! #DIV/0! #VALUE! #REF! #NAME? #NUM! #N/A #GETTING_DATA #SPILL! #CALC! #FIELD! #BLOCKED! #CONNECT! #BUSY!
  #UNKNOWN! #ERROR! #PYTHON! #EXTERNAL! #TIMEOUT! #MACRO?
  #ПУСТО! #ДЕЛ/0! #ЗНАЧ! #ССЫЛКА! #ИМЯ? #ЧИСЛО! #Н/Д #ПЕРЕНОС! #ВЫЧИСЛ! #ПОЛЕ! #ОЖИДАНИЕ_ДАННЫХ
  #WERT! #BEZUG! #ZAHL! #NV #ÜBERLAUF! #KALK!
  #NUL! #VALEUR! #NOM? #NOMBRE! #EPARS! #PROPAGATION!
  #¡NULO! #¡DIV/0! #¡VALOR! #¡REF! #¿NOMBRE? #¡NUM! #¡DESBORDAMIENTO! #¡CALC!`.split(/\s+/),
);
/** LibreOffice's numbered errors, a column too narrow for its value, and the NULL of MySQL and PostgreSQL. */
const otherErrors = /^(?:(?:[Ee]rr|[Ff]ehler|[Оо]шибка|[Оо]ш):5\d\d|#{3,}|\\N)$/;

/** The first character decides for almost every cell, at the least cost. */
function codesOf(characters: string): Uint8Array {
  const codes = new Uint8Array(0x10000);
  for (const each of characters) codes[each.charCodeAt(0)] = 1;
  return codes;
}
const firstOfError = codesOf(' \t\r\n\u00a0\ufeff#\\EeFfОо');
const firstOfPlaceholder = codesOf(' \t\r\n\u00a0\ufeffNnUu<([');

/** Whether a cell has no value but what a spreadsheet or a database shows in its place. */
export function isErrorValue(cell: string): boolean {
  if (firstOfError[cell.charCodeAt(0)] !== 1) return false;
  const text = cell.trim();
  return errorNames.has(text.toUpperCase()) || otherErrors.test(text);
}

const placeholder = /^\s*(?:null|nan|nat|none|nil|undefined|n\/?a|<na>|<null>|\(null\)|\[null\])\s*$/i;

/** Whether a cell is probably what a program wrote for no value; it may also be a name, such as None. */
export const isPlaceholder = (cell: string): boolean =>
  firstOfPlaceholder[cell.charCodeAt(0)] === 1 && cell.length < 20 && placeholder.test(cell);

/**
 * The cell errors in a row of a report or rejects file. Those cells showed no values in their workbook; as text, they
 * would be sent. `written` is the row's own error text.
 */
export function cellErrorsLeft(
  record: readonly string[],
  columns: readonly string[],
  written: string,
): CellError[] {
  return record.flatMap((value, field) => {
    const isLeft = (error: string) => written.includes(`${columns[field]}: ${error}`);
    const left = wasHidden(value);
    if (value !== '' && [hiddenValue(value), left].some(isLeft)) return [{ field, letters: '', error: left }];
    const error = value.startsWith('=') ? noStoredValue : errorValue(value);
    return isLeft(error) ? [{ field, letters: '', error }] : [];
  });
}

/** Whether a value has lost a character (U+FFFD) or is not text (NUL). */
export function isDamaged(value: string): boolean {
  return value.includes('\ufffd') || value.includes('\0');
}

/** Describes a damaged value in an error. */
export function damageOf(value: string): string {
  return value.includes('\0') ? 'contains a NUL' : 'contains U+FFFD, a lost character';
}

const replacement = Buffer.from('\ufffd');

/** Fields need not be searched for damaged characters until a block has some. */
export class DamageWatch {
  isNeeded = false;

  /** Checks a block of UTF-8 before its rows are taken. */
  read(block: Buffer): void {
    if (!this.isNeeded) this.isNeeded = block.includes(0) || block.includes(replacement);
  }
}
