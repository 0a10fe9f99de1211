import { grown, hashOf, hashOfRecipient } from './files/hash-index.js';
import { NumberedHashes } from './numbered-hashes.js';
import type { FrozenPlan, PlannedRequest } from './plan.js';
import { RowSet } from './row-set.js';

/** 64 bits over the part of a request body after its recipients. */
export interface MessageHash {
  readonly a: number;
  readonly b: number;
}

/** In the place of every message, where only the recipient counts. */
export const anyMessage: MessageHash = { a: 0x811c9dc5, b: 0x9e3779b9 };

/** The hash of a message's tail: the fields after `to`, in a body `from` there. */
export function messageHash(tail: string, from = 0): MessageHash {
  return { a: hashOf(tail, undefined, from), b: hashOf(tail, 0x9e3779b9, from) };
}

export function messageHashOf({ kind, to, body }: PlannedRequest): MessageHash {
  return messageHash(body.slice(`{"to":${JSON.stringify(kind === 'single' ? to[0] : to)},`.length));
}

/**
 * What another job did, or will do, for a pair; within one job, the highest counts. `uncertain` is sent in a batch of
 * which some messages failed, unknown whose; `free` was not sent, and will not be.
 */
export const marks = { free: 1, uncertain: 2, sent: 3, open: 4 } as const;

/** How many pairs other jobs have sent, or will send. */
export interface PairCounts {
  /** Those that no job will send. */
  sent: number;
  /** How many of them are uncertain, by job id. */
  uncertain: Map<string, number>;
  /** By job id. */
  open: Map<string, number>;
}

const certain = 0x8000;
/** Beyond, jobs share the last number: what was sent stays right, but not by which one. */
const mostJobs = 0x7fff;

/**
 * The recipients of a new plan, each with its message, as 64-bit hashes, and what other jobs did for them. A collision,
 * one in 10^19, leads to an unnecessary question.
 */
export class PairSet {
  readonly #pairs = new NumberedHashes();
  readonly #skipped = new RowSet();
  /** Those of rows that a report calls rejected: they were fixed, perhaps to the recipient of another row. */
  readonly fixed = new RowSet();
  /** By pair, the numbers of a job that will send it, and of one that has sent it; 0 for none. */
  #open = new Uint16Array(0);
  #sent = new Uint16Array(0);
  readonly #jobs = [''];
  /** Other readings of rows, and the pair of each. */
  readonly #readings = new NumberedHashes();
  #pairsRead = new Uint32Array(64);

  static async of(plan: FrozenPlan, ofAll?: MessageHash): Promise<PairSet> {
    const pairs = new PairSet();
    for await (const request of plan.requests()) {
      const message = ofAll ?? messageHashOf(request);
      for (const to of request.to) pairs.add(to, message);
    }
    return pairs;
  }

  get length(): number {
    return this.#pairs.length;
  }

  /** Returns the pair's number; none is added once a job is merged. */
  add(recipient: string, message: MessageHash, isFixed = false): number {
    const pair = this.#pairs.add(
      hashOfRecipient(recipient, message.a),
      hashOfRecipient(recipient, message.b),
    );
    if (isFixed) this.fixed.add(pair);
    return pair;
  }

  /** The row of a pair, as another version of this program read it. */
  addReading(pair: number, recipient: string, message: MessageHash): void {
    const reading = this.#readings.add(
      hashOfRecipient(recipient, message.a),
      hashOfRecipient(recipient, message.b),
    );
    if (reading === this.#pairsRead.length) this.#pairsRead = grown(this.#pairsRead, reading * 2);
    this.#pairsRead[reading] = pair;
  }

  /** The pair of a recipient, which may be a part of a text; -1 for none. */
  find(recipient: string, message: MessageHash, from = 0, end = recipient.length): number {
    const high = hashOfRecipient(recipient, message.a, from, end);
    const low = hashOfRecipient(recipient, message.b, from, end);
    const own = this.#pairs.find(high, low);
    if (own !== -1 || this.#readings.length === 0) return own;
    return this.#pairsRead[this.#readings.find(high, low)] ?? -1;
  }

  /** A pair that is not sent after all no longer counts. */
  leaveOut(pair: number): void {
    this.#skipped.add(pair);
  }

  isSkipped(pair: number): boolean {
    return this.#skipped.has(pair);
  }

  /** Takes the marks of one job: one for each pair, or 0; `only` of some pairs. */
  merge(job: string, ofJob: Uint8Array, only: RowSet | null): void {
    let number = 0;
    for (let pair = 0; pair < ofJob.length; pair += 1) {
      const mark = ofJob[pair] ?? 0;
      if (mark === 0 || mark === marks.free || only?.has(pair) === false) continue;
      if (number === 0) number = this.#numberOf(job);
      if (mark === marks.open) {
        if (this.#open.length === 0) this.#open = new Uint16Array(this.length);
        this.#open[pair] = number;
        continue;
      }
      if (this.#sent.length === 0) this.#sent = new Uint16Array(this.length);
      const sent = this.#sent[pair] ?? 0;
      if (mark === marks.sent && sent < certain) this.#sent[pair] = number | certain;
      else if (sent === 0) this.#sent[pair] = number;
    }
  }

  /** Before the unfinished jobs are read again. What was sent stays so. */
  forgetOpen(): void {
    this.#open.fill(0);
  }

  /** Leaves out the pairs that were sent, so that they no longer count; returns their counts. */
  skipSent(): PairCounts {
    const counts = this.counts();
    for (let pair = 0; pair < this.#sent.length; pair += 1)
      if (this.#sent[pair] !== 0 && (this.#open[pair] ?? 0) === 0) this.#skipped.add(pair);
    return counts;
  }

  /** The job that has sent the pair; null for none. */
  sentBy(pair: number): string | null {
    return this.#jobs[(this.#sent[pair] ?? 0) & mostJobs] || null;
  }

  /** The jobs that have sent some of them. */
  senders(): string[] {
    return this.#jobs.filter(
      (_, number) => number > 0 && this.#sent.some((sent) => (sent & mostJobs) === number),
    );
  }

  counts(): PairCounts {
    const counts: PairCounts = { sent: 0, uncertain: new Map(), open: new Map() };
    const count = (jobs: Map<string, number>, number: number) => {
      const job = this.#jobs[number] ?? '';
      jobs.set(job, (jobs.get(job) ?? 0) + 1);
    };
    for (let pair = 0; pair < this.length; pair += 1) {
      const open = this.#open[pair] ?? 0;
      const sent = this.#sent[pair] ?? 0;
      if ((open === 0 && sent === 0) || this.#skipped.has(pair)) continue;
      if (open !== 0) count(counts.open, open);
      else counts.sent += 1;
      if (open === 0 && sent < certain) count(counts.uncertain, sent);
    }
    return counts;
  }

  #numberOf(job: string): number {
    const known = this.#jobs.indexOf(job);
    if (known !== -1) return known;
    return this.#jobs.length <= mostJobs ? this.#jobs.push(job) - 1 : mostJobs;
  }
}
