import {
  format,
  getFormatDateInfo,
  getFormatFromId,
  isDateFormat,
  isTextFormat,
  isValidFormat,
  TOKEN_BREAK,
  TOKEN_DURATION,
  TOKEN_FILL,
  TOKEN_GENERAL,
  TOKEN_LOCALE,
  TOKEN_SKIP,
  TOKEN_SLASH,
  TOKEN_TEXT,
  tokenize,
} from 'numfmt';
import { russianGenitive } from './month-names.js';
import { readXml, type XmlHandler } from './xml.js';

/**
 * Of the built-in formats, dates that follow the reader's region (14, 22 and the East Asian ones) are shown as ISO
 * dates: 03/04 would be March to some and April to others.
 */
const isoDates: Readonly<Record<number, string>> = {
  ...Object.fromEntries(
    [14, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58].map((id) => [id, 'yyyy-mm-dd']),
  ),
  ...Object.fromEntries([55, 56].map((id) => [id, 'h:mm:ss'])),
  22: 'yyyy-mm-dd h:mm',
};

/** Lists often repeat dates and amounts, but rarely times. */
const keptValues = 5_000;
/** Placeholder for a number with all its digits. */
const general = '\0';
const noSection = '######';
const options = { dateErrorThrows: true, dateSpanLarge: false, overflow: noSection };

/** Shows cell values in one number format of a workbook. */
export class CellFormat {
  readonly isDate: boolean;
  /** Whether it shows a day, not elapsed time. */
  readonly isCalendar: boolean;
  readonly #pattern: string;
  readonly #isElapsed: boolean;
  readonly #isFraction: boolean;
  readonly #isText: boolean;
  readonly #hasText: boolean;
  readonly #shown = new Map<number, string | null>();

  constructor(written: string) {
    const types = tokenize(written).map(({ type }) => type);
    const { year, month, day } = getFormatDateInfo(written);
    this.isDate = isDateFormat(written);
    this.#isElapsed = types.includes(TOKEN_DURATION);
    this.isCalendar = this.isDate && (!this.#isElapsed || year || month || day);
    this.#isFraction = !this.isDate && types.includes(TOKEN_SLASH);
    this.#isText = isTextFormat(written);
    this.#hasText = types.includes(TOKEN_TEXT) || types.filter((type) => type === TOKEN_BREAK).length === 3;
    this.#pattern = withoutLayout(written, this.isDate);
  }

  /** `digits`: all digits of the number. Null if the format cannot show the number. */
  number(value: number, digits: string): string | null {
    if (this.#isText) return digits;
    const known = this.#shown.get(value);
    if (known !== undefined) return known;
    const shown = this.#show(value, digits);
    if (this.#shown.size < keptValues) this.#shown.set(value, shown);
    return shown;
  }

  text(text: string): string {
    return this.#hasText ? format(this.#pattern, text) : text;
  }

  #show(value: number, digits: string): string | null {
    if (this.#isElapsed && value < 0 && !this.isCalendar) {
      const shown = this.#show(-value, digits);
      return shown === null ? null : `-${shown}`;
    }
    const [, decimals = ''] = digits.split('.');
    const plain = decimals === '' ? '0' : `0.${'0'.repeat(decimals.length)}`;
    const pattern = this.#pattern.replaceAll(general, plain);
    try {
      const shown = format(this.#isFraction ? withFraction(pattern, value) : pattern, value, options).trim();
      return shown === noSection ? null : shown;
    } catch {
      return null;
    }
  }
}

/**
 * The pattern without the alignment of columns and the countries of currencies: in Excel the reader's region determines
 * the separators of numbers.
 */
function withoutLayout(pattern: string, isDate: boolean): string {
  const tokens = tokenize(pattern);
  const isEdge = (at: number) => (tokens[at]?.type ?? TOKEN_BREAK) === TOKEN_BREAK;
  return tokens
    .map(({ type, value, raw }, at) => {
      if (type === TOKEN_FILL) return '';
      if (type === TOKEN_SKIP) return isEdge(at - 1) || isEdge(at + 1) ? '' : '\\ ';
      if (type === TOKEN_GENERAL) return general;
      if (type !== TOKEN_LOCALE) return raw;
      if (!isDate) return `"${value.split('-')[0]}"`;
      return /^-FC19$/i.test(value) ? `[$-${russianGenitive}]` : raw;
    })
    .join('');
}

/**
 * The format with a style's format id; null if cells are shown as stored. `custom` are the workbook's own formats, and
 * ids below 59 are built in.
 */
function cellFormatOf(id: number, custom: ReadonlyMap<number, string>): CellFormat | null {
  const pattern = custom.get(id) ?? isoDates[id] ?? (id < 59 ? getFormatFromId(id) : '');
  return /^(?:General|@)?$/i.test(pattern) || !isValidFormat(pattern) ? null : new CellFormat(pattern);
}

/** The format of each cell style, by the style's number; null if cells are shown as stored. */
export type Styles = readonly (CellFormat | null)[];

export async function readStyles(part: string, blocks: AsyncIterable<Buffer>): Promise<Styles> {
  const custom = new Map<number, string>();
  const ids: number[] = [];
  const keep = (id: number, code: string) => {
    if (!custom.has(id)) custom.set(id, code);
  };
  const handler: XmlHandler = {
    open(name, attribute, parent) {
      // The formats of conditional formatting have ids too, which mean nothing to cells.
      if (name === 'numFmt' && parent === 'numFmts')
        keep(Number(attribute('numFmtId')), attribute('formatCode') ?? '');
      else if (name === 'xf' && parent === 'cellXfs') ids.push(Number(attribute('numFmtId') ?? 0));
    },
  };
  await readXml(part, blocks, handler);
  const formats = new Map(ids.map((id) => [id, cellFormatOf(id, custom)]));
  return ids.map((id) => formats.get(id) ?? null);
}

/** The placeholders of a fraction in a number format: `# ??/??`, `?/8`. */
const places = /(?<![#?0])(?:([#?0]+)[ \\]+)?[#?0]+ *\/ *(\d+|[#?0]+)/g;
const mostDenominators = 9_999;

/** Replaces the placeholders of a fraction in a pattern with the value, as text. */
function withFraction(pattern: string, value: number): string {
  return pattern.replace(places, (_, whole: string | undefined, below: string) => {
    const isFixed = /[1-9]/.test(below);
    const most = isFixed ? Number(below) : Math.min(10 ** below.length - 1, mostDenominators);
    const size = Math.abs(value);
    const rest = whole === undefined ? size : size % 1;
    const [above, under] = isFixed ? [Math.round(rest * most), most] : nearest(rest, most);
    if (whole === undefined) return `"${above}/${under}"`;
    const units = Math.trunc(size) + (above === under ? 1 : 0);
    if (above % under === 0) return `"${units}"`;
    return units === 0 && !whole.includes('0') ? `"${above}/${under}"` : `"${units} ${above}/${under}"`;
  });
}

function nearest(value: number, mostUnder: number): [above: number, under: number] {
  let best: [number, number] = [Math.round(value), 1];
  let least = Math.abs(value - best[0]);
  for (let under = 2; under <= mostUnder && least > 1e-12; under += 1) {
    const above = Math.round(value * under);
    const error = Math.abs(value - above / under);
    if (error < least - 1e-12) [best, least] = [[above, under], error];
  }
  return best;
}
