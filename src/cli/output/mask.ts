/** Masks recipients anywhere in a text. */
export function maskedText(text: string): string {
  return text
    .replace(/[^\s"'<>,;]+@[^\s"'<>,;]+/g, masked)
    .replace(/(?<![\w-])\+?\d[\d -]{4,}\d(?![\w-])/g, masked);
}

/** 9911**33, b***@example.mn */
export function masked(recipient: string): string {
  const at = recipient.lastIndexOf('@');
  if (at > 0) return `${recipient.slice(0, 1)}***${recipient.slice(at)}`;
  const digits = recipient.replace(/[ -]/g, '');
  return digits.length < 4 ? '****' : `${digits.slice(0, -4)}**${digits.slice(-2)}`;
}
