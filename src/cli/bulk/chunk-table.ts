import type { Entry } from './journal.js';
import type { PlanMeta } from './plan.js';

export const phases = ['pending', 'doubt', 'accepted', 'alarm', 'rejected', 'failed'] as const;
export type Phase = (typeof phases)[number];

export type PlanFigures = Pick<PlanMeta, 'chunks' | 'recipients' | 'rejected' | 'channel'>;

/** Recipients by what is certain about them; together they are always `planned`. */
export interface Tally {
  planned: number;
  accepted: number;
  rejected: number;
  failed: number;
  in_doubt: number;
  pending: number;
}

const tallyOf = {
  pending: 'pending',
  doubt: 'in_doubt',
  alarm: 'in_doubt',
  accepted: 'accepted',
  rejected: 'rejected',
  failed: 'failed',
} as const satisfies Record<Phase, keyof Tally>;

/**
 * Where every chunk of a job stands: the journal, replayed. A few bytes a chunk, so that a million single
 * sends fit; what is rare (entries taken out) is kept apart.
 */
export class ChunkTable {
  readonly chunks: number;
  readonly tally: Tally;
  /** Recipients of which it is known that the operator has their message. */
  sent = 0;
  credits = 0;
  balance: number | null = null;
  /** The last `end` of a run, if any. */
  ended: { at: string; exit: number } | null = null;
  /** Job id and plan digest that the journal begins with. */
  job: { id: string; digest: string } | null = null;
  readonly #channel: PlanFigures['channel'];
  readonly #phase: Uint8Array;
  readonly #revision: Uint16Array;
  readonly #recipients: Uint16Array;
  readonly #removed = new Map<number, Set<number>>();
  readonly #final = new Map<number, { sent: number; failed: number; lost: number }>();
  readonly #refused = new Map<number, string>();
  #open: number;
  /** Accepted chunks that are still on their way: all but single SMS. */
  #unfinal = 0;

  /** Rows that were left out of the plan as bad count as rejected from the start. */
  constructor({ chunks, recipients, rejected: left, channel }: PlanFigures) {
    this.chunks = chunks;
    this.#channel = channel;
    this.#open = chunks;
    this.#phase = new Uint8Array(chunks);
    this.#revision = new Uint16Array(chunks);
    this.#recipients = new Uint16Array(chunks);
    const planned = recipients + left;
    this.tally = { planned, accepted: 0, rejected: left, failed: 0, in_doubt: 0, pending: recipients };
  }

  phase(chunk: number): Phase {
    return phases[this.#phase[chunk] ?? 0] ?? 'pending';
  }

  revision(chunk: number): number {
    return this.#revision[chunk] ?? 0;
  }

  /** Recipients of the body as it was last sent. */
  recipients(chunk: number): number {
    return this.#recipients[chunk] ?? 0;
  }

  /** Positions of the planned chunk that were refused and taken out. */
  removed(chunk: number): ReadonlySet<number> {
    return this.#removed.get(chunk) ?? new Set();
  }

  /** Why a chunk was last refused and is pending again. */
  refusal(chunk: number): string | null {
    return this.#refused.get(chunk) ?? null;
  }

  /** Whether the chunk still has something to send. */
  isOpen(chunk: number): boolean {
    const phase = this.phase(chunk);
    return phase === 'pending' || phase === 'doubt';
  }

  /** How many chunks have something left to send. */
  get open(): number {
    return this.#open;
  }

  get finished(): boolean {
    return this.#open === 0;
  }

  /** Whether nothing was ever sent. */
  get untouched(): boolean {
    return this.#recipients.every((count) => count === 0);
  }

  has(phase: Phase): boolean {
    return this.#phase.includes(phases.indexOf(phase));
  }

  /** Whether the end of everything that was accepted is known. */
  get final(): boolean {
    return this.#unfinal === 0;
  }

  /** The first chunk that still has something to send; `chunks` when there is none. */
  firstOpen(): number {
    const found = this.#phase.findIndex((_, chunk) => this.isOpen(chunk));
    return found === -1 ? this.chunks : found;
  }

  /** The chunks in a phase, in order. */
  *in(phase: Phase): Iterable<number> {
    for (let chunk = 0; chunk < this.chunks; chunk += 1) if (this.phase(chunk) === phase) yield chunk;
  }

  /** Applies what the journal says, in the journal's order. */
  apply(entry: Entry): void {
    switch (entry[0]) {
      case 'job':
        this.job = { id: entry[1], digest: entry[2] };
        break;
      case 'end':
        this.ended = { at: entry[1], exit: entry[2] };
        this.balance = entry[3] ?? this.balance;
        break;
      case 'send':
        this.#recipients[entry[1]] = entry[3];
        this.#revision[entry[1]] = entry[2];
        this.#move(entry[1], 'doubt');
        break;
      case 'refused':
        this.#refused.set(entry[1], entry[3]);
        this.#move(entry[1], 'pending');
        break;
      case 'accepted':
        this.credits += entry[4];
        if (entry[5] === 'batch' || this.#channel === 'email') this.#unfinal += 1;
        else this.sent += 1;
        this.#move(entry[1], 'accepted');
        break;
      case 'alarm':
        if (this.phase(entry[1]) === 'accepted') this.#disown(entry[1]);
        this.#move(entry[1], 'alarm');
        break;
      case 'removed':
        this.#remove(entry[1], entry[2], entry[3]);
        break;
      case 'revised':
        this.#revision[entry[1]] = entry[2] + 1;
        this.#move(entry[1], 'pending');
        break;
      case 'final':
        this.#finish(entry[1], entry[2], entry[3]);
        break;
      default:
        this.#move(entry[1], entry[0]);
        break;
    }
  }

  #move(chunk: number, to: Phase): void {
    const from = this.phase(chunk);
    const recipients = this.#recipients[chunk] ?? 0;
    this.tally[tallyOf[from]] -= recipients;
    this.tally[tallyOf[to]] += recipients;
    const wasOpen = this.isOpen(chunk);
    this.#phase[chunk] = phases.indexOf(to);
    this.#open += Number(this.isOpen(chunk)) - Number(wasOpen);
    if (to !== 'pending') this.#refused.delete(chunk);
  }

  /** An accepted batch has turned out to be another one. */
  #disown(chunk: number): void {
    if (this.#final.has(chunk)) this.#finish(chunk, 0, 0, 0);
    else this.#unfinal -= 1;
    this.#final.delete(chunk);
  }

  #remove(chunk: number, revision: number, indexes: readonly number[]): void {
    const removed = this.#removed.get(chunk) ?? new Set();
    this.#removed.set(chunk, removed);
    for (const index of indexes) removed.add(index);
    this.#move(chunk, 'pending');
    this.tally.pending -= indexes.length;
    this.tally.rejected += indexes.length;
    const left = (this.#recipients[chunk] ?? 0) - indexes.length;
    this.#recipients[chunk] = left;
    this.#revision[chunk] = revision + 1;
    if (left === 0) this.#move(chunk, 'rejected');
  }

  /** Who is neither sent to nor failed at the end of a batch is in doubt. */
  #finish(chunk: number, sent: number, failed: number, lost = this.#unaccounted(chunk, sent + failed)): void {
    if (!this.#final.has(chunk)) this.#unfinal -= 1;
    const before = this.#final.get(chunk) ?? { sent: 0, failed: 0, lost: 0 };
    this.#final.set(chunk, { sent, failed, lost });
    this.sent += sent - before.sent;
    this.tally.accepted -= failed - before.failed + lost - before.lost;
    this.tally.failed += failed - before.failed;
    this.tally.in_doubt += lost - before.lost;
  }

  #unaccounted(chunk: number, known: number): number {
    return Math.max(0, (this.#recipients[chunk] ?? 0) - known);
  }
}
