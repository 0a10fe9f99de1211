/** NFC leaves all others alone: up to U+02FF, Cyrillic letters, and general punctuation but its spaces. */
const mayBeDecomposed = /[^\0-\u02ff\u0400-\u0482\u048a-\u052f\u2010-\u203a]/;

/** The text in NFC: macOS writes й as two characters. */
export const composed = (text: string): string => (mayBeDecomposed.test(text) ? text.normalize('NFC') : text);

const withLineFeeds = (text: string): string => (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text);

/** A text as it is sent. */
export const cleanText = (text: string): string => composed(withLineFeeds(text));

/** A field of a message as it is sent; the line ends of HTML are never seen. */
export const cleanField = (field: string, text: string): string =>
  field === 'html' ? composed(text) : cleanText(text);

/** Spaces, and marks of direction and zero width; not those that join letters or belong to an emoji. */
const edge = /[\s\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069]/;

const isEdge = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return (code <= 0x20 || code >= 0x7f) && !(code >= 0x400 && code < 0x530) && edge.test(text.charAt(at));
};

/** The value of a cell as it is put into a message. */
export const cleanValue = (value: string): string => (isPlain(value) ? value : trimmed(cleanText(value)));

/** Those of a row; the array itself if they are as written. */
export function cleanValues(values: readonly string[], used: readonly number[]): readonly string[] {
  let clean: string[] | null = null;
  for (const index of used) {
    const value = values[index] ?? '';
    const read = cleanValue(value);
    if (read === value) continue;
    clean ??= [...values];
    clean[index] = read;
  }
  return clean ?? values;
}

/** Whether a value is clean for certain; a loop costs less than a pattern, and there are many values. */
function isPlain(value: string): boolean {
  const last = value.length - 1;
  for (let at = 0; at <= last; at += 1) {
    const code = value.charCodeAt(at);
    if (code >= 0x400 ? code >= 0x530 || (code >= 0x483 && code < 0x48a) : code < 0x20 || code >= 0x7f)
      return false;
  }
  return last < 0 || (value.charCodeAt(0) !== 0x20 && value.charCodeAt(last) !== 0x20);
}

/** The value of a cell without what is around it, which nobody sees. */
export function trimmed(value: string): string {
  let from = 0;
  let end = value.length;
  while (from < end && isEdge(value, from)) from += 1;
  while (end > from && isEdge(value, end - 1)) end -= 1;
  return end - from === value.length ? value : value.slice(from, end);
}
