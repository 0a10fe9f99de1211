/** Numbers below 2^32 by recipient reference: open addressing in two typed arrays, 8 bytes a slot. */
export class RecipientIndex {
  size = 0;
  #recipients = new Uint32Array(1_024);
  #values = new Uint32Array(1_024);
  /** Which slots are taken: any number can be a recipient. */
  #taken = new Uint8Array(1_024 / 8);

  get(recipient: number): number | undefined {
    const slot = this.#slotOf(recipient);
    return this.#isTaken(slot) ? this.#values[slot] : undefined;
  }

  set(recipient: number, value: number): void {
    const slot = this.#slotOf(recipient);
    this.#values[slot] = value;
    if (this.#isTaken(slot)) return;
    this.#put(slot, recipient);
    // Above this load, searches become slow.
    if (this.size * 4 > this.#recipients.length * 3) this.#grow();
  }

  #put(slot: number, recipient: number): void {
    this.#recipients[slot] = recipient;
    this.#taken[slot >>> 3] = (this.#taken[slot >>> 3] ?? 0) | (1 << (slot & 7));
    this.size += 1;
  }

  #isTaken(slot: number): boolean {
    return ((this.#taken[slot >>> 3] ?? 0) & (1 << (slot & 7))) !== 0;
  }

  /** The recipient's slot, or an empty one for it. */
  #slotOf(recipient: number): number {
    const mask = this.#recipients.length - 1;
    // Fibonacci hashing; the high bits are mixed best.
    let slot = (Math.imul(recipient, 0x9e37_79b1) >>> 7) & mask;
    while (this.#isTaken(slot) && this.#recipients[slot] !== recipient) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const recipients = this.#recipients;
    const values = this.#values;
    const taken = this.#taken;
    const slots = recipients.length * 2;
    this.#recipients = new Uint32Array(slots);
    this.#values = new Uint32Array(slots);
    this.#taken = new Uint8Array(slots / 8);
    this.size = 0;
    for (let at = 0; at < recipients.length; at += 1) {
      if (((taken[at >>> 3] ?? 0) & (1 << (at & 7))) === 0) continue;
      const recipient = recipients[at] ?? 0;
      const slot = this.#slotOf(recipient);
      this.#values[slot] = values[at] ?? 0;
      this.#put(slot, recipient);
    }
  }
}
