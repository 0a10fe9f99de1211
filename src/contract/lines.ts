/** No line breaks, no other control characters, no unpaired surrogates (POST /v1/email, `subject` and `from_name`). */
export function isOneLine(text: string): boolean {
  return !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text);
}

/** Characters as limits count them: one for each code point. */
export const characters = (text: string): number => [...text].length;
