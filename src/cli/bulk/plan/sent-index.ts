/** What a message is known by: 64 bits over the part of its request body after the recipients. */
export interface MessageHash {
  readonly a: number;
  readonly b: number;
}

/** 0 for an empty slot; else 1 for sent, and from 2 on the job that still has it to send. */
const sentTag = 1;
const metFlag = 0x8000_0000;
const slotFields = 3;

/** How many recipients of a new plan have a message already, and how many will get it from which open job. */
export interface Met {
  sent: number;
  open: Map<string, number>;
}

/**
 * Who got which message, or is about to: a set of 64-bit hashes, 18 bytes or more a recipient. Two that meet in
 * all bits are one in 10^19; then a question more is asked.
 */
export class SentIndex {
  readonly met: Met = { sent: 0, open: new Map() };
  /** Messages that failed, of people who count as sent to: whose they were is not known. */
  failed = 0;
  readonly #jobs: string[] = [];
  #slots = new Uint32Array(1_024 * slotFields);
  #mask = 1_023;
  #used = 0;

  get isEmpty(): boolean {
    return this.#used === 0;
  }

  addSent(recipient: string, message: MessageHash): void {
    this.#add(recipient, message, sentTag);
  }

  addOpen(recipient: string, message: MessageHash, job: string): void {
    if (this.#jobs.at(-1) !== job) this.#jobs.push(job);
    this.#add(recipient, message, sentTag + this.#jobs.length);
  }

  /** Whether a recipient has a message already; counts everyone once. */
  has(recipient: string, message: MessageHash): boolean {
    const at = this.#find(hash(recipient, message.a), hash(recipient, message.b));
    const tag = this.#slots[at + 2] ?? 0;
    if (tag === 0) return false;
    const state = tag & ~metFlag;
    if (tag < metFlag) {
      this.#slots[at + 2] = (tag | metFlag) >>> 0;
      this.#count(state);
    }
    return state === sentTag;
  }

  #count(state: number): void {
    if (state === sentTag) {
      this.met.sent += 1;
      return;
    }
    const job = this.#jobs[state - sentTag - 1] ?? '';
    this.met.open.set(job, (this.met.open.get(job) ?? 0) + 1);
  }

  #add(recipient: string, message: MessageHash, tag: number): void {
    const [one, other] = [hash(recipient, message.a), hash(recipient, message.b)];
    const at = this.#find(one, other);
    const known = this.#slots[at + 2] ?? 0;
    // Who is still to be sent to counts as that: only its own job may do it.
    if (known !== 0 && tag <= known) return;
    this.#slots.set([one, other, tag], at);
    if (known !== 0) return;
    this.#used += 1;
    if (this.#used * 3 > this.#mask * 2) this.#grow();
  }

  /** Where it is, or would be. */
  #find(one: number, other: number): number {
    const slots = this.#slots;
    for (let slot = one & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const at = slot * slotFields;
      if (slots[at + 2] === 0 || (slots[at] === one && slots[at + 1] === other)) return at;
    }
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(old.length * 2);
    this.#mask = this.#mask * 2 + 1;
    for (let at = 0; at < old.length; at += slotFields) {
      const tag = old[at + 2] ?? 0;
      if (tag === 0) continue;
      const [one, other] = [old[at] ?? 0, old[at + 1] ?? 0];
      this.#slots.set([one, other, tag], this.#find(one, other));
    }
  }
}

export function messageHash(tail: string): MessageHash {
  return { a: hash(tail, 0x811c9dc5), b: hash(tail, 0x9e3779b9) };
}

/** 32 bits over the UTF-16 code units from a seed on (FNV-1a with a final mix). */
function hash(text: string, seed: number): number {
  let value = seed | 0;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
