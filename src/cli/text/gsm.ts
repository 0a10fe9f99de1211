import { measureText } from '../../contract/parts.js';
import { counted } from './wording.js';

/** What `--gsm` writes in place of quotes, dashes and blanks. */
const replacements: readonly (readonly [RegExp, string])[] = [
  [/[`\u00b4\u02b9\u02bb\u02bc\u2018-\u201b\u2032\u2035\u2039\u203a\uff07]/, "'"],
  [/[\u00ab\u00bb\u02ba\u201c-\u201f\u2033\u2036\uff02]/, '"'],
  [/[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/, '-'],
  [/\u2026/, '...'],
  [/[\t\v\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/, ' '],
  [/[\u0085\u2028\u2029]/, '\n'],
  [/[\u00ad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/, ''],
];
const inGsm = (character: string) => replacements.find(([each]) => each.test(character))?.[1];

/** Cyrillic letters, and the Latin ones that they look like. */
const cyrillic = 'АВЕКМНОРСТУХІасеорхуі';
const latin = 'ABEKMHOPCTYXIaceopxyi';

const isForeign = (character: string) => measureText(character).kind !== 'latin';

/** Replaces the quotes, dashes and blanks that the GSM alphabet lacks. */
export const toGsm = (text: string): string =>
  isForeign(text) ? Array.from(text, (each) => inGsm(each) ?? each).join('') : text;

const named = 3;

/** The first characters outside the GSM alphabet, as `U+2019 "’" at 14`: without those that nobody sees. */
function listed(text: string, words: (character: string) => string | null): string {
  const shown = new Map<string, string>();
  for (const [at, each] of [...text].entries()) {
    const more = shown.has(each) || !isForeign(each) ? null : words(each);
    if (more === null) continue;
    const code = (each.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    shown.set(each, `U+${code}${/[\s\p{C}]/u.test(each) ? '' : ` "${each}"`} at ${at + 1}${more}`);
  }
  const all = [...shown.values()];
  const rest = all.length - named;
  return `${all.slice(0, named).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

const written = (by: string) => ({ ' ': 'a space', '': 'nothing', '\n': 'a line end' })[by] ?? `"${by}"`;

/** The text of an SMS with `--gsm`, or without it; `note` receives what was replaced. */
export function smsText(text: string, gsm: boolean | undefined, note: (line: string) => void): string {
  const replaced = gsm ? toGsm(text) : text;
  const by = (each: string | undefined) => (each === undefined ? null : ` by ${written(each)}`);
  if (replaced !== text) note(`Replaced (--gsm): ${listed(text, (each) => by(inGsm(each)))}`);
  return replaced;
}

/** Which characters make a text Cyrillic that is Latin but for them, and what could replace them; null for others. */
export function whyCyrillic(text: string): string | null {
  const all = [...text];
  const others = all.filter(isForeign).length;
  const ofGsm = all.filter((each) => /[\p{L}\p{N}]/u.test(each) && !isForeign(each)).length;
  if (others === 0 || others > ofGsm) return null;
  const names = listed(text, (each) => {
    const by = inGsm(each);
    if (by !== undefined) return ` (${written(by)} in GSM)`;
    const alike = latin[cyrillic.indexOf(each)];
    return alike === undefined ? '' : ` (Latin ${alike}?)`;
  });
  const { parts } = measureText(text);
  const possible = measureText(all.map((each) => (isForeign(each) ? (inGsm(each) ?? '?') : each)).join(''));
  const price = parts > possible.parts ? `, ${counted(parts, 'part')} in place of ${possible.parts}` : '';
  const way = isForeign(toGsm(text)) ? '' : '; --gsm replaces quotes, dashes and blanks';
  return `${names}: the text is Cyrillic${price}${way}`;
}
