/** A number as stored by Excel and others, including `9.9112233E7`. */
const storedNumber = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;
/** Excel shows and keeps no more digits of a fraction. */
const exactDigitCount = 15;
/** No phone or account number is larger. */
const mostDigits = 40;

/**
 * The digits of a stored number, without an exponent: `9.9112233E7` is 99112233. A fraction of over 15 digits is
 * rounded to the 15 that the sheet shows: 19.899999999999999 is 19.9. Null for anything but a number.
 */
export function exactDigits(written: string): string | null {
  if (/^\d{1,15}$/.test(written)) return written;
  const [, sign = '', whole = '', fraction = '', power = '0'] = storedNumber.exec(written) ?? [];
  if (whole + fraction === '') return null;
  const digits = whole + fraction;
  const point = whole.length + Number(power);
  if (point > mostDigits || point < -mostDigits) return String(Number(written));
  const plain = plainDigits(digits, point);
  const isShown = !plain.includes('.') || plain.replace(/^0\.0*|\./, '').length <= exactDigitCount;
  const shown = isShown ? plain : roundedDigits(Number(plain));
  return sign === '-' && /[1-9]/.test(shown) ? `-${shown}` : shown;
}

function roundedDigits(value: number): string {
  const [, whole = '', fraction = '', power = '0'] =
    /^(\d+)\.?(\d*)(?:e([+-]\d+))?$/.exec(value.toPrecision(exactDigitCount)) ?? [];
  return plainDigits(whole + fraction, whole.length + Number(power));
}

/** The digits with a decimal point at a position, without needless zeros. */
function plainDigits(digits: string, point: number): string {
  const padded = point > 0 ? digits.padEnd(point, '0') : '0'.repeat(1 - point) + digits;
  const at = Math.max(point, 1);
  const whole = padded.slice(0, at).replace(/^0+(?=\d)/, '');
  const fraction = padded.slice(at).replace(/(?<!0)0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** Texts write some characters as `_x000D_`, and the underscore before such a sequence as `_x005F_`. */
export function unescapeText(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

const daysBefore1970 = 25_569;
const dayMilliseconds = 86_400_000;
const isoDate = /^(\d{4}-\d{2}-\d{2})?(?:T|^)?(\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?Z?$/;

/** The serial number of a date stored as ISO 8601; null for anything else. */
export function serialOfIso(written: string): number | null {
  const [, day, time] = isoDate.exec(written) ?? [];
  if (day === undefined && time === undefined) return null;
  const at = Date.parse(`${day ?? '1970-01-01'}T${time ?? '00:00'}Z`);
  if (Number.isNaN(at)) return null;
  return at / dayMilliseconds + (day === undefined ? 0 : daysBefore1970);
}
