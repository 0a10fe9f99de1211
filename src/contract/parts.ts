/** Size of an SMS (POST /v1/sms, rules 3 and 4). */
export const maxParts = 5;
export const unitsPerPart = { latin: 150, cyrillic: 60 } as const;

export type TextKind = keyof typeof unitsPerPart;

export interface TextSize {
  /** `latin` if every character is in the GSM 03.38 alphabet, otherwise `cyrillic`. */
  kind: TextKind;
  /** Latin: 1 per character, 2 per extension character. Cyrillic: UTF-16 code units, so 2 per emoji. */
  units: number;
  /** 0 for an empty text; a text over `maxParts` is too long. */
  parts: number;
}

/** GSM 03.38 in the order of its codes, without the escape (0x1b), and its extension table in the same order. */
export const gsmCharacters =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';
export const gsmExtensionCharacters = '\f^{}\\[~]|€';

const gsmAlphabet = new Set(gsmCharacters);
const gsmExtension = new Set(gsmExtensionCharacters);

export function measureText(text: string): TextSize {
  let latinUnits = 0;
  for (const character of text) {
    if (gsmAlphabet.has(character)) latinUnits += 1;
    else if (gsmExtension.has(character)) latinUnits += 2;
    else return sizeOf('cyrillic', text.length);
  }
  return sizeOf('latin', latinUnits);
}

function sizeOf(kind: TextKind, units: number): TextSize {
  return { kind, units, parts: Math.ceil(units / unitsPerPart[kind]) };
}

/** Credits of one SMS: parts x credits per part x holiday multiplier, rounded up (rule 2). */
export function priceOfSms(parts: number, creditsPerPart: number, rateMultiplier: number): number {
  const inBinary = parts * creditsPerPart * rateMultiplier;
  if (Number.isInteger(creditsPerPart) && Number.isInteger(rateMultiplier)) return inBinary;
  // 5 x 10 x 1.1 is 55.00000000000001 in binary; that must not cost a 56th credit, as 1.10000001 does.
  const price = decimalOf(creditsPerPart);
  const multiplier = decimalOf(rateMultiplier);
  if (price === null || multiplier === null) return Math.ceil(inBinary);
  const unit = 10n ** BigInt(price.places + multiplier.places);
  return Number((BigInt(parts) * price.digits * multiplier.digits + unit - 1n) / unit);
}

/** The decimal digits of a number; null if it is negative or not finite. */
function decimalOf(value: number): { digits: bigint; places: number } | null {
  const written = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value));
  if (written === null) return null;
  const [, whole = '', fraction = '', exponent = '0'] = written;
  const places = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction) * 10n ** BigInt(Math.max(0, -places));
  return { digits, places: Math.max(0, places) };
}
