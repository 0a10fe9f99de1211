/**
 * Characters that act on a terminal or hide in a text: controls, format characters (bidi, zero width, tags),
 * line separators, lone surrogates and blank fillers. Emoji presentation and Mongolian variation selectors
 * only choose a shape, so they stay.
 */
const unsafe = () =>
  /(?![\uFE0E\uFE0F\u180B-\u180D\u180F])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
/** Nearly all text: nothing to look for, and no look-up of Unicode's properties at the start. */
const plain = /^[\n\x20-\x7e\u0400-\u0482\u048a-\u052f]*$/;
const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A text from outside as one line that is safe on a terminal: what would act or hide becomes visible. */
export function visible(text: string): string {
  if (plain.test(text) && !text.includes('\n')) return text;
  return text.replace(unsafe(), (character) => named[character] ?? escaped(character));
}

/** A text of several lines that is safe on a terminal: its line ends stay. */
export function visibleLines(text: string): string {
  return text.split(/\r?\n/).map(visible).join('\n');
}

/** JSON that no terminal can be hurt by: the same characters as escapes, the value unchanged. */
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

/** What a key of the service looks like. The client hides the one it uses; this one stands in a wrong place. */
const keyLike = /urtuu_[0-9A-Za-z]{20,}/g;

/** A text without the keys that a person gave where none belongs: as an argument, a name, an option. */
export const withoutKeys = (text: string): string => text.replace(keyLike, 'urtuu_***');
