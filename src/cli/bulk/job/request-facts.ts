import { HashIndex, hashOf } from '../plan/files/hash-index.js';
import { IdColumn, WordColumn } from './columns.js';
import { isMoved, type Outcome, outcomeOf, type Phase, phases, type Removal } from './counts.js';
import { type Finals, finalsOf, finalsWithout, noFinals } from './final-figures.js';
import type { MessageFigures } from './journal/entries.js';

export interface RowPlace {
  request: number;
  index: number;
}

/** What is known of an accepted request: some figures, the final ones, or also how many of them are unknown. */
export type Knowledge = 'some' | 'final' | 'everything';
const knowledges: readonly Knowledge[] = ['some', 'final', 'everything'];

const noRemovals: ReadonlyMap<number, Removal> = new Map();
/** No batch has more messages; figures above it are as wrong as this one. */
const mostMessages = 65_535;

const columnsOf = (requests: number) => ({
  phase: new Uint8Array(requests),
  revision: new Uint16Array(requests),
  recipients: new Uint16Array(requests),
  id: new IdColumn(requests),
  credits: new Float64Array(requests),
  code: new WordColumn(requests),
  /** In milliseconds; below 0, the negative number of the run that sent it; 0 if nothing was sent. */
  sentAt: new Float64Array(requests),
  isReplay: new Uint8Array(requests),
  isBatch: new Uint8Array(requests),
  /** The latest figures, in messages. */
  sent: new Uint16Array(requests),
  failed: new Uint16Array(requests),
  unknown: new Uint16Array(requests),
  suppressed: new Uint16Array(requests),
  knowledge: new Uint8Array(requests),
});

/** The facts of every request of a job: in columns, which take 49 bytes a request, and rare ones in maps. */
export class RequestFacts {
  readonly requests: number;
  protected readonly columns: ReturnType<typeof columnsOf>;
  readonly #removed = new Map<number, Map<number, Removal>>();
  /** Members of accepted requests that another job took, because their messages had failed. */
  readonly #taken = new Map<number, number>();
  /** Members of accepted requests that may be missing from their batch, as long as it has no figures. */
  readonly #unsure = new Map<number, number>();
  /** Accepted batches, in order, and by their ids. */
  readonly #batches: number[] = [];
  readonly #byBatch = new HashIndex();
  /** When each run ended, in milliseconds. */
  readonly #ends: number[] = [];

  constructor(requests: number) {
    this.requests = requests;
    this.columns = columnsOf(requests);
  }

  /** Whether nothing was ever sent. */
  get untouched(): boolean {
    return this.columns.recipients.every((count) => count === 0);
  }

  has(phase: Phase): boolean {
    return this.columns.phase.includes(phases.indexOf(phase));
  }

  /** The last request in a phase; -1 if there is none. */
  last(phase: Phase): number {
    return this.columns.phase.lastIndexOf(phases.indexOf(phase));
  }

  /** The first open request; `requests` if there is none. */
  firstOpen(): number {
    const found = this.columns.phase.findIndex((_, request) => this.isOpen(request));
    return found === -1 ? this.requests : found;
  }

  /** The requests in a phase, in order. */
  *in(phase: Phase): Iterable<number> {
    for (let request = 0; request < this.requests; request += 1)
      if (this.phase(request) === phase) yield request;
  }

  /** The accepted batches, in the order of their acceptance. */
  *batches(): Iterable<number> {
    for (const request of this.#batches) if (this.phase(request) === 'accepted') yield request;
  }

  /** The request answered with this batch; null if there is none. */
  requestOfBatch(id: string): number | null {
    const request = this.#byBatch.find(hashOf(id), (each) => this.columns.id.get(each) === id);
    return request === -1 ? null : request;
  }

  /** Whether an open request was last refused with this code. */
  wasRefused(code: string): boolean {
    return this.columns.phase.some((_, request) => this.isOpen(request) && this.codeOf(request) === code);
  }

  phase(request: number): Phase {
    return phases[this.columns.phase[request] ?? 0] ?? 'pending';
  }

  /** Whether the request still has something to send. */
  isOpen(request: number): boolean {
    const phase = this.phase(request);
    return phase === 'pending' || phase === 'doubt';
  }

  revision(request: number): number {
    return this.columns.revision[request] ?? 0;
  }

  /** Recipients of the body that was last sent. */
  recipients(request: number): number {
    return this.columns.recipients[request] ?? 0;
  }

  /** Removed recipients, by their position in the planned request. */
  removed(request: number): ReadonlyMap<number, Removal> {
    return this.#removed.get(request) ?? noRemovals;
  }

  /** Members of the accepted body, including those that another job has taken since. */
  bodySize(request: number): number {
    return this.recipients(request) + (this.#taken.get(request) ?? 0);
  }

  /** The status of a request's remaining recipients, as far as they share one. */
  statusOf(request: number): Exclude<Outcome, 'unknown'> {
    const phase = this.phase(request);
    if (phase !== 'accepted') return outcomeOf[phase];
    const { sent, unknown, failed, suppressed, unsure } = this.finals(request);
    if (unsure > 0) return 'in_doubt';
    const recipients = this.recipients(request);
    if (suppressed === recipients) return 'suppressed';
    if (failed === recipients) return 'failed';
    return sent + unknown === recipients ? 'sent' : 'queued';
  }

  /** Messages of an accepted request that were not sent, as far as known: failed or suppressed. */
  unsent(request: number): number {
    if (this.phase(request) !== 'accepted') return 0;
    const { failed, suppressed } = this.finals(request);
    return failed + suppressed;
  }

  /** How an accepted request was answered. */
  kindOf(request: number): 'single' | 'batch' {
    return this.columns.isBatch[request] === 1 ? 'batch' : 'single';
  }

  /** The batch or message of a request; '' if there is none, or if it turned out to be another one's. */
  idOf(request: number): string {
    return this.phase(request) === 'alarm' ? '' : this.columns.id.get(request);
  }

  /** What a request was charged; null until it was accepted or failed. */
  creditsOf(request: number): number | null {
    const phase = this.phase(request);
    if (phase === 'failed') return 0;
    return phase === 'accepted' ? (this.columns.credits[request] ?? 0) : null;
  }

  /** Why a request was not accepted, or its messages failed; '' if there is no error. */
  codeOf(request: number): string {
    return this.columns.code.get(request);
  }

  /** The final figures of an accepted request, as the service reported them; null while they are unknown. */
  finalOf(request: number): MessageFigures | null {
    const knowledge = this.knowledge(request);
    if (this.phase(request) !== 'accepted' || knowledge === 'some') return null;
    return this.#figures(request, knowledge === 'everything');
  }

  /**
   * When a request was sent, by the time of its acceptance; 0 if it was not. Without a time, because it is in doubt or
   * was accepted by an earlier release, the latest possible moment: when its run ended, or the journal was last
   * `written`. A moment too early could lead to a second message.
   */
  sentAt(request: number, written: number): number {
    const time = this.columns.sentAt[request] ?? 0;
    return time < 0 ? this.#ends[-time - 1] || written : time;
  }

  /** Whether the job sent something, or ended a run, at this moment or later: also in the future, by a wrong clock. */
  isActiveSince(moment: number, written: number): boolean {
    return (
      this.#ends.some((end) => (end || written) >= moment) ||
      this.columns.sentAt.some((_, request) => this.sentAt(request, written) >= moment)
    );
  }

  protected endRun(at: string): void {
    this.#ends.push(Date.parse(at));
  }

  /** A request is sent or in doubt from now on; null: at a time that is not known. */
  protected setSent(request: number, at: number | null): void {
    this.columns.sentAt[request] = at ?? -1 - this.#ends.length;
  }

  /** The code stays as it is by default. */
  protected enter(request: number, phase: Phase, code?: string): void {
    this.columns.phase[request] = phases.indexOf(phase);
    if (code !== undefined) this.columns.code.set(request, code);
  }

  protected addBatch(request: number, id: string): void {
    this.columns.isBatch[request] = 1;
    this.#batches.push(request);
    if (this.requestOfBatch(id) === null) this.#byBatch.add(hashOf(id), request);
  }

  /** Removes members; those of an accepted request that another job took stay in `bodySize`. */
  protected remove(request: number, indexes: readonly number[], why: Removal): void {
    const removed = this.#removed.get(request) ?? new Map<number, Removal>();
    this.#removed.set(request, removed);
    const before = removed.size;
    for (const index of indexes) removed.set(index, why);
    const count = removed.size - before;
    this.columns.recipients[request] = Math.max(0, this.recipients(request) - count);
    if (isMoved(why) && this.phase(request) === 'accepted')
      this.#taken.set(request, (this.#taken.get(request) ?? 0) + count);
  }

  protected setUnsure(request: number, members: number): void {
    this.#unsure.set(request, members);
    this.columns.knowledge[request] = 0;
  }

  protected setFigures(request: number, figures: MessageFigures, knowledge: Knowledge): void {
    this.columns.sent[request] = countOf(figures.sent);
    this.columns.failed[request] = countOf(figures.failed);
    this.columns.unknown[request] = countOf(figures.unknown ?? 0);
    this.columns.suppressed[request] = countOf(figures.suppressed ?? 0);
    this.columns.knowledge[request] = knowledges.indexOf(knowledge);
    this.#unsure.delete(request);
  }

  protected knowledge(request: number): Knowledge {
    return knowledges[this.columns.knowledge[request] ?? 0] ?? 'some';
  }

  /** The remaining recipients of an accepted request, by outcome. */
  protected finals(request: number): Finals {
    const size = this.bodySize(request);
    const unsure = this.#unsure.get(request);
    const finals =
      unsure === undefined
        ? finalsOf(size, this.#figures(request), this.knowledge(request) !== 'some')
        : { ...noFinals, unsure: Math.min(unsure, size) };
    const taken = this.#taken.get(request);
    return taken === undefined ? finals : finalsWithout(taken, size, finals);
  }

  #figures(request: number, withUnknown = true): MessageFigures {
    const { sent, failed, unknown, suppressed } = this.columns;
    return {
      sent: sent[request] ?? 0,
      failed: failed[request] ?? 0,
      unknown: withUnknown ? (unknown[request] ?? 0) : null,
      suppressed: suppressed[request] || null,
    };
  }
}

/** A value in a service's answer that is not a count is 0. */
const countOf = (figure: number) =>
  Number.isSafeInteger(figure) && figure > 0 ? Math.min(figure, mostMessages) : 0;
