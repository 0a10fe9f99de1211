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
/** Excel shows the sign of the reader's region in these currency formats, which name none. */
const amounts: Readonly<Record<number, string>> = {
  ...Object.fromEntries([5, 6].map((id) => [id, '#,##0'])),
  ...Object.fromEntries([7, 8].map((id) => [id, '#,##0.00'])),
  42: '#,##0;-#,##0;"-"',
  44: '#,##0.00;-#,##0.00;"-"',
};
/** Formats for the long date and the time of the reader's region. */
const regional = /^\[\$-(?:(F800|x-sysdate)|F400|x-systime)\]/i;

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
  readonly #hasDay: boolean;
  readonly #pattern: string;
  readonly #isElapsed: boolean;
  readonly #isFraction: boolean;
  readonly #isText: boolean;
  /** Null if texts are shown as they are. */
  readonly #textPattern: string | null;
  readonly #shown = new Map<number, string | null>();

  constructor(format: string) {
    const written = withoutRegion(format);
    const types = tokenize(written).map(({ type }) => type);
    const { year, month, day, hours, seconds } = getFormatDateInfo(written);
    this.isDate = isDateFormat(written);
    this.#isElapsed = types.includes(TOKEN_DURATION);
    this.isCalendar = this.isDate && (!this.#isElapsed || year || month || day);
    // In `mm:ss` the month stands for minutes.
    this.#hasDay = this.isDate && (year || day || (month && !hours && !seconds));
    this.#isFraction = !this.isDate && types.includes(TOKEN_SLASH);
    this.#isText = isTextFormat(written);
    const sections = withoutLayout(written, this.isDate);
    this.#pattern = sections.join(';');
    const ofText = sections[3] ?? (types.includes(TOKEN_TEXT) ? sections.at(-1) : undefined);
    this.#textPattern = ofText === undefined ? null : `;;;${ofText.replaceAll(general, '@')}`;
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
    return this.#textPattern === null ? text : format(this.#textPattern, text);
  }

  #show(value: number, digits: string): string | null {
    if (this.#isElapsed && value < 0 && !this.isCalendar) {
      const shown = this.#show(-value, digits);
      return shown === null ? null : `-${shown}`;
    }
    const [, decimals = ''] = digits.split('.');
    const plain = decimals === '' ? '0' : `0.${'0'.repeat(decimals.length)}`;
    const pattern = this.#pattern.replaceAll(general, plain);
    if (this.#hasDay && isNoDay(value)) return null;
    try {
      const shown = format(this.#isFraction ? withFraction(pattern, value) : pattern, value, options).trim();
      return shown === noSection ? null : shown;
    } catch {
      return null;
    }
  }
}

/** Excel shows 0 as the day before January 1, 1900, and 60 as the 29th of February, which that year did not have. */
const isNoDay = (value: number) => value < 1 || Math.trunc(value) === 60;

function withoutRegion(pattern: string): string {
  const [begin, isDate] = regional.exec(pattern) ?? [];
  return begin === undefined ? pattern : isDate === undefined ? 'h:mm:ss' : 'yyyy-mm-dd';
}

/**
 * The sections of a pattern, without the alignment of columns and the countries of currencies: in Excel the reader's
 * region determines the separators of numbers.
 */
function withoutLayout(pattern: string, isDate: boolean): string[] {
  const tokens = tokenize(pattern);
  const isEdge = (at: number) => (tokens[at]?.type ?? TOKEN_BREAK) === TOKEN_BREAK;
  const sections = [''];
  tokens.forEach(({ type, value, raw }, at) => {
    if (type === TOKEN_BREAK) sections.push('');
    else sections[sections.length - 1] += shownPart(type, value, raw, at);
  });
  return sections;

  function shownPart(type: string, value: string, raw: string, at: number): string {
    if (type === TOKEN_FILL) return '';
    if (type === TOKEN_SKIP) return isEdge(at - 1) || isEdge(at + 1) ? '' : '\\ ';
    if (type === TOKEN_GENERAL) return general;
    if (type !== TOKEN_LOCALE) return raw;
    if (!isDate) return `"${value.split('-')[0]}"`;
    return /^-FC19$/i.test(value) ? `[$-${russianGenitive}]` : raw;
  }
}

/**
 * The format with a style's format id; null if cells are shown as stored. `custom` are the workbook's own formats, and
 * ids below 59 are built in.
 */
function cellFormatOf(id: number, custom: ReadonlyMap<number, string>): CellFormat | null {
  const pattern = custom.get(id) ?? isoDates[id] ?? amounts[id] ?? (id < 59 ? getFormatFromId(id) : '');
  return /^(?:General|@)?$/i.test(pattern) || !isValidFormat(pattern) ? null : new CellFormat(pattern);
}

/** The format of each cell style, by the style's number; null if cells are shown as stored. */
export class Styles {
  readonly #ids: readonly number[];
  readonly #custom: ReadonlyMap<number, string>;
  /** By format id: a workbook may have many thousands, of which a sheet uses a few. */
  readonly #formats = new Map<number, CellFormat | null>();

  constructor(ids: readonly number[] = [], custom: ReadonlyMap<number, string> = new Map()) {
    this.#ids = ids;
    this.#custom = custom;
  }

  of(style: number): CellFormat | null {
    const id = this.#ids[style];
    if (id === undefined) return null;
    let found = this.#formats.get(id);
    if (found === undefined) {
      found = cellFormatOf(id, this.#custom);
      this.#formats.set(id, found);
    }
    return found;
  }
}

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
  return new Styles(ids, custom);
}

/** Literals are masked by characters for private use. */
const literals = /"[^"]*"|\\[^ ]/g;
const firstMask = 0xe000;
const masks = /[\ue000-\uf8ff]/g;
/** The placeholders of a fraction in a number format: `# ??/??`, `?/8`. */
const places = /(?<![#?0])(?:([#?0]+)([ \\\ue000-\uf8ff]+))?[#?0]+ *\/ *(\d+|[#?0]+)/g;
const mostDenominators = 9_999;

/** Replaces the placeholders of a fraction in a pattern with the value, as text. */
function withFraction(pattern: string, value: number): string {
  const masked: string[] = [];
  const mask = (literal: string) => String.fromCharCode(firstMask + masked.push(literal) - 1);
  const plain = pattern.replace(masks, '').replace(literals, mask);
  const shown = plain.replace(places, (_, whole: string | undefined, between: string, below: string) => {
    const isFixed = /[1-9]/.test(below);
    const most = isFixed ? Number(below) : Math.min(10 ** below.length - 1, mostDenominators);
    const size = Math.abs(value);
    const rest = whole === undefined ? size : size % 1;
    const [above, under] = isFixed ? [Math.round(rest * most), most] : nearest(rest, most);
    if (whole === undefined) return `"${above}/${under}"`;
    const units = Math.trunc(size) + (above === under ? 1 : 0);
    const hasLiteral = /[^ \\]/.test(between);
    if (above % under === 0) return `"${units}"${hasLiteral ? between : ''}`;
    const isWhole = units !== 0 || whole.includes('0');
    return `${isWhole ? `"${units}"` : ''}${isWhole || hasLiteral ? between : ''}"${above}/${under}"`;
  });
  return shown.replace(masks, (each) => masked[each.charCodeAt(0) - firstMask] ?? '');
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
