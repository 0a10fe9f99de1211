/** Whether a value has lost a character (U+FFFD) or is not text (NUL). */
export function isDamaged(value: string): boolean {
  return value.includes('\ufffd') || value.includes('\0');
}

/** How a damaged value is described in an error. */
export function damageOf(value: string): string {
  return value.includes('\0') ? 'contains a NUL' : 'contains U+FFFD, a lost character';
}

const replacement = Buffer.from('\ufffd');

/** Until blocks with damaged characters were read, no field needs to be searched for them. */
export class DamageWatch {
  isNeeded = false;

  /** Looks at a block of UTF-8, before any row of it is taken. */
  read(block: Buffer): void {
    if (!this.isNeeded) this.isNeeded = block.includes(0) || block.includes(replacement);
  }
}
