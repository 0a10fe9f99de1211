import { hashOf } from './files/hash-index.js';
import type { PlannedRequest } from './plan.js';

/** 64 bits over the part of a request body after its recipients. */
export interface MessageHash {
  readonly a: number;
  readonly b: number;
}

/** A slot's tag: 0 if empty, one of these with the number of its job, and a flag once it was counted. */
const uncertain = 0x1000_0000;
const sent = 0x2000_0000;
const open = 0x3000_0000;
const kinds = 0x3000_0000;
const countedFlag = 0x8000_0000;
const slotFields = 3;

/** How many recipients of a new plan already got its message, or will get it from an unfinished job. */
export interface SentCounts {
  sent: number;
  /** How many of those are in batches of which some messages failed, unknown whose, by job id. */
  uncertain: Map<string, number>;
  /** By job id. */
  open: Map<string, number>;
}

/**
 * Which recipients got which message, or will get it: a set of 64-bit hashes, at least 18 bytes a recipient. A
 * collision, one in 10^19, leads to an unnecessary question.
 */
export class SentIndex {
  readonly counts: SentCounts = { sent: 0, uncertain: new Map(), open: new Map() };
  readonly #jobs: string[] = [];
  #slots = new Uint32Array(1_024 * slotFields);
  #mask = 1_023;
  #used = 0;

  get isEmpty(): boolean {
    return this.#used === 0;
  }

  addSent(recipient: string, message: MessageHash): void {
    this.#add(recipient, message, sent);
  }

  addUncertain(recipient: string, message: MessageHash, job: string): void {
    this.#add(recipient, message, uncertain | this.#numberOf(job));
  }

  addOpen(recipient: string, message: MessageHash, job: string): void {
    this.#add(recipient, message, open | this.#numberOf(job));
  }

  /** Counts a recipient of the new plan, once. Returns whether it already got the message. */
  count(recipient: string, message: MessageHash): boolean {
    const at = this.#find(hashOf(recipient, message.a), hashOf(recipient, message.b));
    const tag = this.#slots[at + 2] ?? 0;
    if (tag === 0) return false;
    if (tag < countedFlag) {
      this.#slots[at + 2] = (tag | countedFlag) >>> 0;
      this.#countTag(tag);
    }
    return (tag & kinds) !== open;
  }

  isCounted(recipient: string, message: MessageHash): boolean {
    const at = this.#find(hashOf(recipient, message.a), hashOf(recipient, message.b));
    return (this.#slots[at + 2] ?? 0) >= countedFlag;
  }

  #countTag(tag: number): void {
    const kind = tag & kinds;
    const job = this.#jobs[tag & ~kinds] ?? '';
    if (kind !== open) this.counts.sent += 1;
    if (kind === sent) return;
    const counts = kind === open ? this.counts.open : this.counts.uncertain;
    counts.set(job, (counts.get(job) ?? 0) + 1);
  }

  /** Jobs are added one after the other. */
  #numberOf(job: string): number {
    if (this.#jobs.at(-1) !== job) this.#jobs.push(job);
    return this.#jobs.length - 1;
  }

  #add(recipient: string, message: MessageHash, tag: number): void {
    const one = hashOf(recipient, message.a);
    const other = hashOf(recipient, message.b);
    const at = this.#find(one, other);
    const known = this.#slots[at + 2] ?? 0;
    // An unfinished job outranks a sent message: only that job may send it.
    if (known !== 0 && tag <= known) return;
    this.#slots.set([one, other, tag], at);
    if (known !== 0) return;
    this.#used += 1;
    if (this.#used * 3 > this.#mask * 2) this.#grow();
  }

  /** The slot of the pair, or an empty one for it. */
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
      const one = old[at] ?? 0;
      const other = old[at + 1] ?? 0;
      this.#slots.set([one, other, tag], this.#find(one, other));
    }
  }
}

/** The hash of a message's tail: the fields after `to`. */
export function messageHash(tail: string): MessageHash {
  return { a: hashOf(tail), b: hashOf(tail, 0x9e3779b9) };
}

export function messageHashOf({ kind, to, body }: PlannedRequest): MessageHash {
  return messageHash(body.slice(`{"to":${JSON.stringify(kind === 'single' ? to[0] : to)},`.length));
}
