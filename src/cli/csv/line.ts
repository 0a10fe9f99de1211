/**
 * A value that a spreadsheet would run as a formula, with the quotes that already guard it: Excel also takes the
 * full-width forms of the signs.
 */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;

/** A plain negative number is no formula, and stays a number in the spreadsheet. */
const negativeNumber = /^-\d+(?:\.\d+)?$/;

/** Guards a value with a leading `'`; `unguard` undoes exactly that. */
export function guard(value: string): string {
  return formula.test(value) && !negativeNumber.test(value) ? `'${value}` : value;
}

export function unguard(value: string): string {
  return value.startsWith("'") && formula.test(value.slice(1)) ? value.slice(1) : value;
}

/** One field of a CSV file: formula-safe, and quoted where it holds what divides fields anywhere. */
export function csvField(value: string): string {
  const safe = guard(value);
  return /[",;\t|\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** One row of a CSV file that a spreadsheet may open, ending in CRLF (RFC 4180). */
export function csvLine(fields: readonly string[]): string {
  return `${fields.map(csvField).join(',')}\r\n`;
}

/** What a spreadsheet needs at the beginning of a file, or it takes UTF-8 for the code page of its system. */
export const byteOrderMark = '\ufeff';
