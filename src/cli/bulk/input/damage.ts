/** Whether a value has lost a character (U+FFFD) or is not text (NUL). */
export function isDamaged(value: string): boolean {
  return value.includes('\ufffd') || value.includes('\0');
}

/** How a damaged value is described in an error. */
export function damageOf(value: string): string {
  return value.includes('\0') ? 'contains a NUL' : 'contains U+FFFD, a lost character';
}

const replacement = Buffer.from('\ufffd');

/** Whether a block of UTF-8 can hold damaged values. */
export function mayHoldDamage(block: Buffer): boolean {
  return block.includes(0) || block.includes(replacement);
}
