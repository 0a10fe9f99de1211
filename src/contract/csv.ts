/** A value that a spreadsheet would run as a formula, guarded or not. Excel also accepts full-width signs. */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;

/** Spreadsheets read it as a number. */
const negativeNumber = /^-\d+(?:\.\d+)?$/;

/** Guards a value with a leading `'`; `unguard` undoes exactly that. */
export function guard(value: string): string {
  return formula.test(value) && !negativeNumber.test(value) ? `'${value}` : value;
}

export function unguard(value: string): string {
  return value.startsWith("'") && formula.test(value.slice(1)) ? value.slice(1) : value;
}

/** A formula-safe field, in quotes if it has a delimiter of any CSV dialect. */
export const csvField = (value: string): string => field(value, /[",;\t|\r\n]|^\s|\s$/);

function field(value: string, special: RegExp): string {
  const safe = guard(value);
  return special.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A formula-safe row, ending in CRLF (RFC 4180). */
export function csvLine(fields: readonly string[]): string {
  return `${fields.map(csvField).join(',')}\r\n`;
}

/** The same with tabs, for programs that split lines at tabs: few fields need quotes. */
export function tsvLine(fields: readonly string[]): string {
  return `${fields.map((value) => field(value, /["\t\r\n]|^\s|\s$/)).join('\t')}\n`;
}

/** Without it at the start of a file, spreadsheets read UTF-8 in their system's code page. */
export const byteOrderMark = '\ufeff';
