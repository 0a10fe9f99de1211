/** Whether a value has lost a character (U+FFFD) or is not text (NUL). */
export function isDamaged(value: string): boolean {
  return value.includes('\ufffd') || value.includes('\0');
}

/** Describes a damaged value in an error. */
export function damageOf(value: string): string {
  return value.includes('\0') ? 'contains a NUL' : 'contains U+FFFD, a lost character';
}

const replacement = Buffer.from('\ufffd');

/** Fields need not be searched for damaged characters until a block has some. */
export class DamageWatch {
  isNeeded = false;

  /** Checks a block of UTF-8 before its rows are taken. */
  read(block: Buffer): void {
    if (!this.isNeeded) this.isNeeded = block.includes(0) || block.includes(replacement);
  }
}
