import { hashOf } from './files/hash-index.js';
import type { FrozenPlan, PlannedRequest } from './plan.js';
import { RowSet } from './row-set.js';
import { HashList, SortedHashes } from './sorted-hashes.js';

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
export const marks = { uncertain: 1, sent: 2, free: 3, open: 4 } as const;

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
 * The recipients of a new plan, each with its message, as 64-bit hashes, and what other jobs did for them: 12 bytes a
 * pair, and 8 to 12 for each one added until `finish`. Pairs are numbered once all are added. A collision, one in
 * 10^19, leads to an unnecessary question.
 */
export class PairSet {
  readonly #skipped = new RowSet();
  #added = new HashList();
  /** The lines of those added, in ascending order; null if nobody asks for them. */
  #lines: HashList | null;
  /** Those added for rows that a report calls rejected: they were fixed, perhaps to the recipient of another row. */
  #addedFixed = new RowSet();
  #fixed: RowSet | null = null;
  #own: SortedHashes | null = null;
  /** By pair, the numbers of a job that will send it, and of one that has sent it; 0 for none. */
  #open = new Uint16Array(0);
  #sent = new Uint16Array(0);
  readonly #jobs = [''];
  /** Other readings of rows, and the pairs of these rows. */
  readonly #readings = new HashList();
  readonly #readRows = new HashList();
  #found: { readings: SortedHashes; pairs: Uint32Array } | null = null;

  constructor({ byLine = false } = {}) {
    this.#lines = byLine ? new HashList() : null;
  }

  static async of(plan: FrozenPlan, ofAll?: MessageHash): Promise<PairSet> {
    const pairs = new PairSet();
    for await (const request of plan.requests()) {
      const message = ofAll ?? messageHashOf(request);
      for (const to of request.to) pairs.add(to, message);
    }
    return pairs;
  }

  /** The number of pairs; no more can be added. */
  get length(): number {
    return this.#sorted.length;
  }

  /** Returns how many were added before. */
  add(recipient: string, message: MessageHash, line = 0, isFixed = false): number {
    const added = this.#added.length;
    this.#added.push(hashOf(recipient, message.a), hashOf(recipient, message.b));
    this.#lines?.push(line, 0);
    if (isFixed) this.#addedFixed.add(added);
    return added;
  }

  /** A row that was added, as another version of this program read it. */
  addReading(added: number, recipient: string, message: MessageHash): void {
    this.#readings.push(hashOf(recipient, message.a), hashOf(recipient, message.b));
    this.#readRows.push(this.#added.high(added), this.#added.low(added));
    this.#found = null;
  }

  /** Which one was added for a row; -1 for none. */
  atLine(line: number): number {
    let from = 0;
    let end = this.#lines?.length ?? 0;
    while (from < end) {
      const middle = (from + end) >>> 1;
      if ((this.#lines?.high(middle) ?? 0) < line) from = middle + 1;
      else end = middle;
    }
    return this.#lines?.high(from) === line && from < this.#lines.length ? from : -1;
  }

  /** The pair of a recipient, which may be a part of a text; -1 for none. */
  find(recipient: string, message: MessageHash, from = 0, end = recipient.length): number {
    const high = hashOf(recipient, message.a, from, end);
    const low = hashOf(recipient, message.b, from, end);
    const own = this.#sorted.find(high, low);
    if (own !== -1 || this.#readings.length === 0) return own;
    const { readings, pairs } = this.#read();
    return pairs[readings.find(high, low)] ?? -1;
  }

  get fixed(): RowSet {
    this.#fixed ??= this.#pairsOf(this.#addedFixed);
    return this.#fixed;
  }

  /** Whether the pair of one that was added is skipped. */
  isSkipped(added: number): boolean {
    return this.#skipped.has(this.#sorted.find(this.#added.high(added), this.#added.low(added)));
  }

  /** Frees the memory for what was added: from now on nobody asks by line, or whether it is skipped. */
  finish(): void {
    this.#own = this.#sorted;
    this.#fixed = this.fixed;
    this.#added = new HashList();
    this.#lines = null;
  }

  get #sorted(): SortedHashes {
    this.#own ??= new SortedHashes(this.#added);
    return this.#own;
  }

  #pairsOf(added: RowSet): RowSet {
    const pairs = new RowSet();
    for (let at = 0; added.size > 0 && at < this.#added.length; at += 1)
      if (added.has(at)) pairs.add(this.#sorted.find(this.#added.high(at), this.#added.low(at)));
    return pairs;
  }

  #read() {
    if (this.#found === null) {
      const readings = new SortedHashes(this.#readings);
      const pairs = new Uint32Array(readings.length);
      for (let at = 0; at < this.#readings.length; at += 1) {
        const reading = readings.find(this.#readings.high(at), this.#readings.low(at));
        pairs[reading] = this.#sorted.find(this.#readRows.high(at), this.#readRows.low(at));
      }
      this.#found = { readings, pairs };
    }
    return this.#found;
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
