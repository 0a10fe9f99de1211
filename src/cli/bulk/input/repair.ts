/** Damage to recipients, and to values in messages, that can be undone with certainty. */
export type RepairKind =
  | 'separators'
  | 'country_code'
  | 'invisible'
  | 'full_width'
  | 'apostrophe'
  | 'formula'
  | 'decimals'
  | 'exponent'
  | 'blanks'
  | 'decomposed';

export type RepairCounts = Partial<Record<RepairKind, number>>;

export interface Repaired {
  value: string;
  kinds: RepairKind[];
}

/** Spaces other than U+0020, line ends, and characters without a glyph. */
const invisible =
  /[\t\r\n\u00a0\u00ad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u2064\u2066-\u206f\u3000\ufeff]|[\ufe00-\ufe0f]/g;
/** The text with its invisible characters as escapes: two that look alike may differ in them. */
export const visible = (text: string): string =>
  text.replace(invisible, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`);
const unicodeDash = /[\u2010-\u2015\u2212\uff0d]/g;

/** Leaves spaces, dashes and +976 alone, which the contract reads. */
export function repairNumber(written: string): Repaired {
  const kinds: RepairKind[] = [];
  let value = written;
  const step = (kind: RepairKind, next: string) => {
    if (next !== value) kinds.push(kind);
    value = next;
  };
  step('invisible', value.replace(invisible, ''));
  step('formula', /^="([^"]*)"$/.exec(value.trim())?.[1] ?? value);
  step('apostrophe', value.replace(/^\s*'/, ''));
  step(
    'full_width',
    value.replace(/[\uff10-\uff19\uff0b]/g, (mark) => narrow(mark)),
  );
  step('separators', value.replace(unicodeDash, '-'));
  step('exponent', fromExponent(value));
  step('decimals', value.replace(/^(\s*\+?\d{8,14})[.,]0+(\s*)$/, '$1$2'));
  step('separators', withoutMarks(value));
  return { value, kinds };
}

/** Leaves the case of the domain alone, which the contract reads, and a leading `'`, which is valid in an address. */
export function repairAddress(written: string): Repaired {
  const kinds: RepairKind[] = [];
  let value = written;
  const visible = value.replace(invisible, '');
  if (visible !== value) kinds.push('invisible');
  value = visible.trim();
  if (value !== visible) kinds.push('separators');
  return { value, kinds };
}

function narrow(mark: string): string {
  return String.fromCharCode(mark.charCodeAt(0) - 0xfee0);
}

/** Two halves, or at least three groups: 991122.33 is an amount. */
const grouped = /^\s*(?:(?:\+?976[\s-]*)?\d{4}[./]\d{4}|\+?\d{2,4}(?:[./]\d{2,4}){2,})\s*$/;

/** Replaces brackets around a group, and dots and slashes between groups, which people write instead of dashes. */
function withoutMarks(value: string): string {
  const open = value.replace(/[([]\s*(\+?\d{2,4})\s*[)\]]/g, ' $1 ');
  return grouped.test(open) ? open.replace(/[./]/g, '-') : open;
}

const exponent = /^\s*\+?([1-9])(?:[.,](\d+))?[eE]\+?0*(\d{1,2})\s*$/;

/** `9.9112233E7`: certain only if the mantissa has every digit; `9.91E+07` has lost the rest. */
function fromExponent(value: string): string {
  const [, first = '', rest = '', power = ''] = exponent.exec(value) ?? [];
  return first !== '' && rest.length === Number(power) ? first + rest : value;
}

/** Whether a cell holds more than one number; only a person knows which one is meant. */
export function hasSeveral(written: string): boolean {
  return (written.match(/(?<!\d)(?:\+?976[ -]?)?\d{4}[ .-]?\d{4}(?!\d)/g)?.length ?? 0) > 1;
}

/** Whether a spreadsheet has rounded the number, so its last digits are lost. */
export function isRounded(value: string): boolean {
  return exponent.test(value);
}
