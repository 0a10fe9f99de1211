/**
 * Characters that control a terminal or are invisible: controls, format characters (bidi, zero width, tags), line
 * separators, lone surrogates and blank fillers. Emoji presentation and Mongolian variation selectors only select a
 * shape, so they are kept.
 */
const unsafe = () =>
  /(?![\uFE0E\uFE0F\u180B-\u180D\u180F])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
/** Matches nearly all texts, without a slow look-up of Unicode properties. */
const plain = /^[\n\x20-\x7e\u0400-\u0482\u048a-\u052f]*$/;
const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Makes a text a single line that is safe on a terminal: unsafe characters become visible. */
export function visible(text: string): string {
  if (plain.test(text) && !text.includes('\n')) return text;
  return text.replace(unsafe(), (character) => named[character] ?? escaped(character));
}

/** Keeps line ends. */
export function visibleLines(text: string): string {
  return text.split(/\r?\n/).map(visible).join('\n');
}

/** JSON with unsafe characters escaped; the value is unchanged. */
export function safeJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, undefined, indent);
  if (plain.test(json)) return json;
  return json.replace(unsafe(), (character) => (character === '\n' ? character : escaped(character)));
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    const unit = character.charCodeAt(index).toString(16).padStart(4, '0');
    return `\\u${unit}`;
  }).join('');
}

/** The form of an API key. The client redacts its own key; this finds others. */
const keyLike = /urtuu_[0-9A-Za-z]{20,}/g;

/** Redacts keys mistakenly given as an argument, a name or an option. */
export const withoutKeys = (text: string): string => text.replace(keyLike, 'urtuu_***');
