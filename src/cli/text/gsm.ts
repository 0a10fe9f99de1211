import { gsmCharacters, gsmExtensionCharacters, measureText } from '../../contract/parts.js';
import { counted } from './wording.js';

/** What `--gsm` writes in place of quotes, dashes and blanks. */
const replacements: ReadonlyMap<string, string> = new Map(
  (
    [
      ['\u2018\u2019\u201a\u201b\u2032\u2035\u2039\u203a\u02b9\u02bb\u02bc`\u00b4\uff07', "'"],
      ['\u201c\u201d\u201e\u201f\u2033\u2036\u00ab\u00bb\u02ba\uff02', '"'],
      ['\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d', '-'],
      ['\u2026', '...'],
      ['\t\v\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a', ' '],
      ['\u202f\u205f\u3000', ' '],
      ['\u0085\u2028\u2029', '\n'],
      ['\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\ufeff', ''],
      ['\u2066\u2067\u2068\u2069', ''],
    ] as const
  ).flatMap(([characters, by]) => Array.from(characters, (each): [string, string] => [each, by])),
);

/** Cyrillic letters, and the Latin ones that they look like. */
const cyrillic = 'АВЕКМНОРСТУХІЈЅасеорхуіјѕ';
const latin = 'ABEKMHOPCTYXIJSaceopxyijs';

const alphabet = new Set(gsmCharacters + gsmExtensionCharacters);

/** Characters outside GSM 03.38 in a Latin text, and the first place of each: 1 is the first character. */
interface Foreign {
  character: string;
  at: number;
}

function foreignIn(text: string): Foreign[] {
  const found = new Map<string, Foreign>();
  let at = 0;
  for (const character of text) {
    at += 1;
    if (!alphabet.has(character) && !found.has(character)) found.set(character, { character, at });
  }
  return [...found.values()];
}

/** Replaces the quotes, dashes and blanks that the GSM alphabet lacks. */
export const toGsm = (text: string): string =>
  measureText(text).kind === 'latin'
    ? text
    : Array.from(text, (each) => replacements.get(each) ?? each).join('');

/** `U+2019 "’" at 14`; only the code of what nobody sees. */
function nameOf({ character, at }: Foreign): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `U+${code}${/[\p{L}\p{N}\p{P}\p{S}]/u.test(character) ? ` "${character}"` : ''} at ${at}`;
}

const mostNamed = 3;

const listed = (all: readonly Foreign[], name: (each: Foreign) => string): string => {
  const more = all.length - mostNamed;
  return `${all.slice(0, mostNamed).map(name).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

const shownBlank: Readonly<Record<string, string>> = { ' ': 'a space', '': 'nothing', '\n': 'a line end' };
const written = (by: string) => shownBlank[by] ?? (by === '"' ? `'"'` : `"${by}"`);

/** What `--gsm` replaces in a text; null for nothing. */
function replacedIn(text: string): string | null {
  const replaced = foreignIn(text).filter(({ character }) => replacements.has(character));
  if (replaced.length === 0) return null;
  return listed(replaced, (each) => `${nameOf(each)} by ${written(replacements.get(each.character) ?? '')}`);
}

/** Which characters make a text Cyrillic that is Latin but for them, and what could replace them; null for others. */
export function whyCyrillic(text: string): string | null {
  const size = measureText(text);
  if (size.kind === 'latin') return null;
  const isForeign = (each: string) => !alphabet.has(each);
  const all = Array.from(text);
  const others = all.filter(isForeign).length;
  const ofAlphabet = all.filter((each) => /[\p{L}\p{N}]/u.test(each) && !isForeign(each)).length;
  if (others > ofAlphabet) return null;
  const names = listed(foreignIn(text), (each) => {
    const by = replacements.get(each.character);
    const alike = latin[cyrillic.indexOf(each.character)];
    if (by !== undefined) return `${nameOf(each)} (${written(by)} in GSM)`;
    return `${nameOf(each)}${alike === undefined ? '' : ` (Latin ${alike}?)`}`;
  });
  const inGsm = all.map((each) => (isForeign(each) ? (replacements.get(each) ?? '?') : each));
  const { parts } = measureText(inGsm.join(''));
  const price = size.parts === parts ? '' : `, ${counted(size.parts, 'part')} in place of ${parts}`;
  const way = measureText(toGsm(text)).kind === 'latin' ? '; --gsm replaces quotes, dashes and blanks' : '';
  return `${names}: the text is Cyrillic${price}${way}`;
}

/** The text of an SMS with `--gsm`, or without it; `note` receives what was replaced. */
export function smsText(text: string, gsm: boolean | undefined, note: (line: string) => void): string {
  const replaced = gsm ? replacedIn(text) : null;
  if (replaced === null) return text;
  note(`Replaced (--gsm): ${replaced}.`);
  return toGsm(text);
}
