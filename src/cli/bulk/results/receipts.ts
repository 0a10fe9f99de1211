import { type Message, normalizeRecipient } from '../../../contract/index.js';
import type { BatchMessages } from '../../reader/batch-messages.js';
import { counted } from '../../text/wording.js';
import { isRefunded } from '../job/counts.js';
import type { JobState } from '../job/job-state.js';
import type { EntryOf } from '../job/journal/entries.js';
import { HashIndex, hashOf } from '../plan/files/hash-index.js';
import type { FrozenPlan, PlannedRequest } from '../plan/plan.js';
import { matchMessages, storedReceipt, suppressedIn } from './match-messages.js';
import { inDoubt, type Outcome, outcomeOfRemoval, ReceiptColumns } from './receipt-columns.js';
import { isFinal, isNotUnknown, type ReceiptStore, type StoredReceipt } from './receipt-store.js';
import type { SingleMessages } from './single-messages.js';

/** The outcome of one recipient, as shown in a report. */
export interface Receipt extends Omit<Outcome, 'delivery'> {
  batchId: string;
  delivery: string;
}

export interface MessageReaders {
  ofBatch: Pick<BatchMessages, 'of'>;
  single: Pick<SingleMessages, 'pages'>;
}

type ReadMessages = () => Promise<MessageReaders>;

export interface ReceiptSource {
  plan: FrozenPlan;
  state: JobState;
  /** Called before messages are read from the service, separately for each batch; may prompt. Null: none are read. */
  messages: ReadMessages | null;
  /** Where final outcomes are stored; null: nowhere. */
  store: Pick<ReceiptStore, 'read' | 'keep'> | null;
  /** Also reads stored outcomes again that may still change. */
  refresh?: boolean | undefined;
  /** Called for each batch before its messages are read. */
  onBatch?(): void;
  /** Called for each page of single messages. */
  onPage?(): void;
}

/**
 * The outcome of every recipient of a job, by position in the plan: from the job's state, then from what was stored,
 * and for the rest from the service if it lists messages. In columns, so a job of a million rows fits in memory.
 */
export class Receipts {
  readonly #state: JobState;
  readonly #store: ReceiptSource['store'];
  readonly #columns: ReceiptColumns;
  /** The position of each request's first recipient. */
  readonly #first: Uint32Array;
  /** A hash of the recipient of each single send, to recognise its message. */
  readonly #recipient: Uint32Array;
  /** Requests whose outcomes need not be read from the service. */
  readonly #known: Uint8Array;
  /** Stored rows without a delivery report, by request. */
  readonly #unreported: Uint16Array;
  /** Whether the service does not list the messages of a batch, so only its figures are known. */
  unlisted = false;
  /** Rows whose messages were not read, the batches among them, and the first error. */
  unread: { batches: number; rows: number; code: string } | null = null;
  /** Single messages with a known status but unknown delivery, and why. */
  unreadDeliveries: { rows: number; code: string } | null = null;
  /** Final figures that have changed since they were recorded. */
  readonly learned: EntryOf<'final'>[] = [];
  /** Accepted batches with other recipients. */
  readonly alarms: { request: number; reason: string }[] = [];

  private constructor({ plan: { meta }, state, store }: ReceiptSource) {
    this.#state = state;
    this.#store = store;
    this.#columns = new ReceiptColumns(meta.recipients);
    this.#first = new Uint32Array(meta.requests + 1);
    this.#recipient = new Uint32Array(meta.requests);
    this.#known = new Uint8Array(meta.requests);
    this.#unreported = new Uint16Array(meta.requests);
  }

  static async gather(source: ReceiptSource): Promise<Receipts> {
    const { plan, store, messages } = source;
    const receipts = new Receipts(source);
    for await (const request of plan.requests()) receipts.#add(request);
    const isKnown = source.refresh ? isFinal : isNotUnknown;
    await store?.read((request, batch, stored) => receipts.#addStored(request, batch, stored, isKnown));
    if (messages === null) return receipts;
    await receipts.#addBatches(source, messages);
    await receipts.#addSingles(source, messages);
    return receipts;
  }

  /** Stored rows without a delivery report. */
  get unreported(): number {
    return this.#unreported.reduce((sum, rows) => sum + rows, 0);
  }

  /** The position of a recipient in the plan. */
  positionOf({ request, index }: { request: number; index: number }): number {
    return (this.#first[request] ?? 0) + index;
  }

  of({ request, index }: { request: number; index: number }): Receipt {
    const outcome = this.#columns.get(this.positionOf({ request, index }));
    const id = this.#state.idOf(request);
    if (this.#isSingle(request))
      return { ...outcome, id: this.#state.removed(request).size > 0 ? '' : id, batchId: '' };
    return {
      ...outcome,
      batchId: ['sent', 'queued', 'failed', 'suppressed'].includes(outcome.status) ? id : '',
    };
  }

  /** A batch that was never accepted has no id either; the last batch of a long list may have one recipient. */
  #isSingle(request: number): boolean {
    return this.#state.kindOf(request) === 'single';
  }

  /** Members of a request as planned. */
  #sizeOf(request: number): number {
    return (this.#first[request + 1] ?? 0) - (this.#first[request] ?? 0);
  }

  #add({ number, kind, to }: PlannedRequest): void {
    const state = this.#state;
    this.#first[number + 1] = (this.#first[number] ?? 0) + to.length;
    const removed = state.removed(number);
    const credits = state.creditsOf(number);
    const final = state.finalOf(number);
    const each = credits === null ? null : credits / state.bodySize(number);
    const status = state.statusOf(number);
    const outcome: Outcome = {
      status,
      code: state.codeOf(number),
      // A service that accepted another number of recipients does not say whose credits these are.
      credits: each !== null && isRefunded(status) ? 0 : Number.isInteger(each) ? each : null,
      id: '',
      delivery: final !== null && final.sent > 0 && final.sent === final.unknown ? 'unknown' : '',
    };
    for (let index = 0; index < to.length; index += 1) {
      const removal = removed.get(index);
      this.#set(number, index, removal === undefined ? outcome : outcomeOfRemoval(removal));
    }
    if (kind === 'single') this.#recipient[number] = hashOf(to[0] ?? '');
    this.#known[number] = Number(state.phase(number) !== 'accepted' || removed.size === to.length);
  }

  /** Outcomes that were stored for all remaining recipients. */
  #addStored(
    request: number,
    batch: string,
    stored: readonly StoredReceipt[] | null,
    isKnown: (receipt: StoredReceipt) => boolean,
  ): void {
    const state = this.#state;
    if (state.phase(request) !== 'accepted') return;
    const removed = state.removed(request);
    const receipts = stored?.filter(({ index }) => !removed.has(index)) ?? [];
    const left = this.#sizeOf(request) - removed.size;
    const isWhole = state.idOf(request) === batch && receipts.length === left;
    const isOutdated = state.finalOf(request)?.unknown === 0;
    if (isWhole) {
      this.#learn(request, receipts, true);
      for (const each of receipts) {
        // Receipts for all of them have arrived since they were stored.
        const delivery = isOutdated && each.delivery === 'unknown' ? '' : each.delivery;
        this.#set(request, each.index, { ...each, delivery });
      }
    }
    const knows = left === 0 || (isWhole && receipts.every(isKnown));
    this.#known[request] = Number(knows);
    // A failed message gets no delivery report.
    this.#unreported[request] = knows
      ? receipts.filter((each) => each.delivery === null && each.status !== 'failed').length
      : 0;
  }

  /** Accepted requests with outcomes to read from the service. */
  *#unknown(kind: PlannedRequest['kind']): Iterable<number> {
    for (const request of this.#state.in('accepted'))
      if (this.#known[request] === 0 && this.#state.kindOf(request) === kind) yield request;
  }

  async #addBatches({ plan, onBatch }: ReceiptSource, messages: ReadMessages): Promise<void> {
    const [first] = this.#unknown('batch');
    if (first === undefined) return;
    const { ofBatch } = await messages();
    for await (const request of plan.requests(first)) {
      const { number, kind } = request;
      if (this.#known[number] === 1 || kind !== 'batch') continue;
      const id = this.#state.idOf(number);
      onBatch?.();
      const listed = await ofBatch.of(id);
      if ('unlisted' in listed) this.unlisted = true;
      else if ('unread' in listed) this.#leaveUnread(number, this.#membersOf(request), listed.unread);
      else await this.#match(request, id, listed.messages);
    }
  }

  /** The status of single messages is known, except for emails. */
  async #addSingles({ plan: { meta }, onPage }: ReceiptSource, messages: ReadMessages): Promise<void> {
    const requests = new HashIndex();
    const unknown = [...this.#unknown('single')];
    if (unknown.length === 0) return;
    for (const request of unknown) requests.add(hashOf(this.#state.idOf(request)), request);
    let left = unknown.length;
    const span = { channel: meta.channel, begun: meta.created_at, ended: this.#state.ended?.at ?? null };
    const pages = (await messages()).single.pages(span, left);
    while (left > 0) {
      const { value, done } = await pages.next();
      if (done) return typeof value === 'string' ? undefined : this.#leaveSinglesUnread(value.code);
      onPage?.();
      for (const message of value) {
        const { id, to } = message;
        const isTo = (each: number) => to === '' || hashOf(normalizeRecipient(to)) === this.#recipient[each];
        const isIt = (each: number) => this.#known[each] === 0 && this.#state.idOf(each) === id && isTo(each);
        const request = requests.find(hashOf(id), isIt);
        if (request === -1) continue;
        this.#known[request] = 1;
        left -= 1;
        await this.#keep(request, id, [storedReceipt(message, 0)]);
      }
    }
    await pages.return('end');
  }

  #leaveSinglesUnread(code: string): void {
    let rows = 0;
    let deliveries = 0;
    for (const request of this.#unknown('single')) {
      const place = this.#first[request] ?? 0;
      if (this.#columns.get(place).status === 'queued') {
        this.#columns.setCode(place, 'not_read');
        rows += 1;
      } else deliveries += 1;
    }
    if (rows > 0) this.#countUnread({ batches: 0, rows, code });
    if (deliveries > 0) this.unreadDeliveries = { rows: deliveries, code };
  }

  #countUnread({ batches, rows, code }: NonNullable<Receipts['unread']>): void {
    this.unread ??= { batches: 0, rows: 0, code };
    this.unread.batches += batches;
    this.unread.rows += rows;
  }

  async #match(request: PlannedRequest, id: string, messages: readonly Message[]): Promise<void> {
    const { number, to } = request;
    const { found, missing, strangers, shared } = matchMessages(to, this.#state.removed(number), messages);
    if (missing.length === 0) return this.#keep(number, id, found);
    for (const receipt of found) this.#set(number, receipt.index, receipt);
    if (strangers > 0) this.#raise(request, id, strangers);
    else if (shared === null) this.#leaveUnread(number, missing, 'not_found');
    else for (const index of missing) this.#set(number, index, shared);
  }

  /** Stores the outcomes of all members, if they are final. */
  async #keep(request: number, id: string, receipts: readonly StoredReceipt[]): Promise<void> {
    for (const receipt of receipts) this.#set(request, receipt.index, receipt);
    if (receipts.some(({ status }) => status === 'queued')) return;
    this.#learn(request, receipts);
    await this.#store?.keep(request, id, receipts);
  }

  /** The carrier's receipts change how many messages are unknown; stored ones only say which are suppressed. */
  #learn(request: number, receipts: readonly StoredReceipt[], isStored = false): void {
    const final = this.#state.finalOf(request);
    if (final === null) return;
    const isUnsaid = isStored || receipts.some(({ delivery }) => delivery === '');
    const unknown = isUnsaid ? final.unknown : receipts.filter((each) => !isNotUnknown(each)).length;
    const suppressed = suppressedIn(receipts) || null;
    if (unknown !== final.unknown || suppressed !== final.suppressed)
      this.learned.push({ type: 'final', request, code: null, ...final, unknown, suppressed });
  }

  /** The remaining members of a request. */
  #membersOf({ number, to }: PlannedRequest): number[] {
    const removed = this.#state.removed(number);
    return [...to.keys()].filter((index) => !removed.has(index));
  }

  /** Keeps the outcomes known without the messages of a batch; each row shows that there is more to know. */
  #leaveUnread(request: number, indexes: readonly number[], code: string): void {
    this.#countUnread({ batches: 1, rows: indexes.length, code });
    for (const index of indexes) this.#columns.setCode(this.positionOf({ request, index }), 'not_read');
  }

  /** The answer was about an earlier request with the same key and the same number of recipients. */
  #raise(request: PlannedRequest, id: string, strangers: number): void {
    const whom = counted(strangers, 'recipient');
    const reason = `batch ${id} went to ${whom} of another request with the same key`;
    this.alarms.push({ request: request.number, reason });
    for (const index of this.#membersOf(request)) this.#set(request.number, index, inDoubt);
  }

  /** The state has the id of a single message. */
  #set(request: number, index: number, outcome: Outcome): void {
    const kept = this.#isSingle(request) ? { ...outcome, id: '' } : outcome;
    this.#columns.set(this.positionOf({ request, index }), kept);
  }
}
