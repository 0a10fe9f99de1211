/** A value as an error quotes it, before what is wrong with it. */
const quotedValue = /"(?:[^"\\]|\\.)*"(?= (?:is|has) )/g;

/** An error about a recipient as a log may show it: `"9911**3" is not a phone number`. */
export function maskedError(text: string): string {
  return text.replace(quotedValue, (quoted) => JSON.stringify(masked(JSON.parse(quoted) as string)));
}

/** A text in which recipients can stand anywhere, such as one about a header that is none. */
export function maskedText(text: string): string {
  return text
    .replace(/[^\s"'<>,;]+@[^\s"'<>,;]+/g, masked)
    .replace(/(?<![\w-])\+?\d[\d -]{4,}\d(?![\w-])/g, masked);
}

/** A recipient that a log may show: 9911**33, b***@example.mn. */
export function masked(recipient: string): string {
  const at = recipient.lastIndexOf('@');
  if (at > 0) return `${recipient.slice(0, 1)}***${recipient.slice(at)}`;
  const digits = recipient.replace(/[ -]/g, '');
  return digits.length < 4 ? '****' : `${digits.slice(0, -4)}**${digits.slice(-2)}`;
}
