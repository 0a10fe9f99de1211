import { format, isDateFormat } from 'numfmt';

/**
 * Formats that every workbook has without writing them down. Those that follow the reader's region (14, 22 and the
 * East Asian ones) are ISO dates here: 03/04 would be March to some and April to others.
 */
const builtIn: Readonly<Record<number, string>> = {
  14: 'yyyy-mm-dd',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'yyyy-mm-dd h:mm',
  ...Object.fromEntries([27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58].map((id) => [id, 'yyyy-mm-dd'])),
  ...Object.fromEntries([32, 33, 34, 35, 55, 56].map((id) => [id, 'h:mm:ss'])),
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
};

/** Lists repeat their days; times rarely. */
const keptValues = 20_000;

/** Shows serial numbers as dates, as one number format of a workbook does. */
export class DateFormat {
  readonly pattern: string;
  readonly #shown = new Map<number, string | null>();

  constructor(pattern: string) {
    this.pattern = pattern;
  }

  /** Null for a number that no sheet can show as a date. */
  show(serial: number): string | null {
    const known = this.#shown.get(serial);
    if (known !== undefined) return known;
    const shown = this.#show(serial);
    if (this.#shown.size < keptValues) this.#shown.set(serial, shown);
    return shown;
  }

  #show(serial: number): string | null {
    try {
      return format(this.pattern, serial, { dateErrorThrows: true, dateSpanLarge: false, nbsp: false });
    } catch {
      return null;
    }
  }
}

/** The date format behind a style's format id; null for numbers and texts. `custom` are the workbook's own. */
export function dateFormatOf(id: number, custom: ReadonlyMap<number, string>): DateFormat | null {
  const pattern = custom.get(id) ?? builtIn[id];
  if (pattern === undefined) return null;
  try {
    return isDateFormat(pattern) ? new DateFormat(pattern) : null;
  } catch {
    return null;
  }
}
