import { type Message, normalizeRecipient } from '../../../contract/index.js';
import type { BatchMessages } from '../../reader/batch-messages.js';
import { counted } from '../../text/wording.js';
import type { JobState } from '../job/job-state.js';
import type { EntryOf } from '../job/journal/entries.js';
import { isMoved, type Removal, statusOfRemoval } from '../job/request-states.js';
import type { FrozenPlan, PlannedRequest } from '../plan/plan.js';
import { type Outcome, ReceiptColumns } from './receipt-columns.js';
import type { ReceiptStore, StoredReceipt } from './receipt-store.js';
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

export interface ReceiptSource {
  plan: FrozenPlan;
  /** Must have the details of every request. */
  state: JobState;
  /** Called before messages are read from the service, separately for each batch; may prompt. Null: none are read. */
  messages: (() => Promise<MessageReaders>) | null;
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
 * The outcome of every recipient of a job, by position in the plan: from the job's state, and for batches from the
 * service if it lists their messages.
 */
export class Receipts {
  readonly #state: JobState;
  readonly #columns: ReceiptColumns;
  /** The position of each request's first recipient. */
  readonly #first: Uint32Array;
  /** Sent single messages to read, by id. */
  readonly #singles = new Map<string, { request: number; to: string }>();
  /** Whether the service does not list the messages of a batch, so only its figures are known. */
  unlisted = false;
  /** Rows whose messages were not read, the batches among them, and the first error. */
  unread: { batches: number; rows: number; code: string } | null = null;
  /** Single messages with a known status but unknown delivery, and why. */
  unreadDeliveries: { rows: number; code: string } | null = null;
  /** Stored rows without a delivery report. */
  unreported = 0;
  /** Final figures that have changed since they were recorded. */
  readonly learned: EntryOf<'final'>[] = [];
  /** Accepted batches with other recipients. */
  readonly alarms: { request: number; reason: string }[] = [];

  private constructor({ meta }: FrozenPlan, state: JobState) {
    this.#state = state;
    this.#columns = new ReceiptColumns(meta.recipients);
    this.#first = new Uint32Array(meta.requests + 1);
  }

  static async gather(source: ReceiptSource): Promise<Receipts> {
    const receipts = new Receipts(source.plan, source.state);
    for await (const request of source.plan.requests()) await receipts.#add(request, source);
    await receipts.#addSingles(source);
    return receipts;
  }

  /** The position of a recipient in the plan. */
  positionOf({ request, index }: { request: number; index: number }): number {
    return (this.#first[request] ?? 0) + index;
  }

  of({ request, index }: { request: number; index: number }): Receipt {
    const first = this.#first[request] ?? 0;
    const next = this.#first[request + 1] ?? 0;
    const { delivery, ...outcome } = this.#columns.get(first + index);
    const isInBatch = next - first > 1 && ['sent', 'queued', 'failed'].includes(outcome.status);
    const batchId = isInBatch ? this.#state.details(request).id : '';
    return { ...outcome, batchId, delivery: delivery ?? '' };
  }

  async #add(request: PlannedRequest, source: ReceiptSource): Promise<void> {
    const { number, kind, to } = request;
    const first = this.#first[number] ?? 0;
    this.#first[number + 1] = first + to.length;
    const removed = this.#state.removed(number);
    const { code, credits, id, final } = this.#state.details(number);
    const left = to.length - removed.size;
    const each = credits === null ? null : credits / this.#state.bodySize(number);
    const status = this.#state.statusOf(number);
    const outcome: Outcome = {
      status,
      code,
      // A service that accepted another number of recipients does not say whose credits these are.
      credits: each === null ? null : status === 'failed' ? 0 : Number.isInteger(each) ? each : null,
      id: kind === 'single' ? id : '',
      delivery: final !== null && final.sent > 0 && final.sent === final.unknown ? 'unknown' : '',
    };
    for (let index = 0; index < to.length; index += 1) {
      const removal = removed.get(index);
      this.#columns.set(first + index, removal === undefined ? outcome : outcomeOfRemoval(removal));
    }
    if (this.#state.phase(number) !== 'accepted' || left === 0) return;
    const stored = await this.#stored(request, id, source.store);
    for (const each of stored ?? []) {
      // Receipts for all of them have arrived since they were stored.
      const isOutdated = each.delivery === 'unknown' && final?.unknown === 0;
      this.#columns.set(first + each.index, isOutdated ? { ...each, delivery: '' } : each);
    }
    if (stored?.every(source.refresh ? isFinal : isKnown)) this.#countUnreported(stored);
    else if (kind === 'batch') await this.#addMessages(request, id, source);
    else this.#singles.set(id, { request: number, to: to[0] ?? '' });
  }

  /** The stored outcomes of the remaining recipients; null if some are missing. */
  async #stored(
    { number, to }: PlannedRequest,
    id: string,
    store: ReceiptSource['store'],
  ): Promise<StoredReceipt[] | null> {
    const removed = this.#state.removed(number);
    const stored = (await store?.read(number, id))?.filter(({ index }) => !removed.has(index));
    return stored?.length === to.length - removed.size ? stored : null;
  }

  /** A failed message gets no delivery report. */
  #countUnreported(stored: readonly StoredReceipt[]): void {
    this.unreported += stored.filter((each) => each.delivery === null && each.status !== 'failed').length;
  }

  /** The status of single messages is known, except for emails. */
  async #addSingles({ plan: { meta }, messages, store, onPage }: ReceiptSource): Promise<void> {
    if (messages === null || this.#singles.size === 0) return;
    const { channel, created_at: begun } = meta;
    const span = { channel, begun, ended: this.#state.ended?.at ?? null };
    const { single } = await messages();
    const pages = single.pages(span, this.#singles.size);
    while (this.#singles.size > 0) {
      const { value, done } = await pages.next();
      if (done) return typeof value === 'string' ? undefined : this.#leaveSinglesUnread(value.code);
      onPage?.();
      for (const message of value) await this.#addSingle(message, store);
    }
    await pages.return('end');
  }

  #leaveSinglesUnread(code: string): void {
    const places = [...this.#singles.values()].map(({ request }) => this.#first[request] ?? 0);
    const queued = places.filter((place) => this.#columns.get(place).status === 'queued');
    for (const place of queued) this.#columns.setCode(place, 'not_read');
    if (queued.length > 0) this.#countUnread({ batches: 0, rows: queued.length, code });
    const rows = places.length - queued.length;
    if (rows > 0) this.unreadDeliveries = { rows, code };
  }

  #countUnread({ batches, rows, code }: NonNullable<Receipts['unread']>): void {
    const before = this.unread ?? { batches: 0, rows: 0, code };
    this.unread = { batches: before.batches + batches, rows: before.rows + rows, code: before.code };
  }

  async #addSingle(message: Message, store: ReceiptSource['store']): Promise<void> {
    const single = this.#singles.get(message.id);
    if (single === undefined) return;
    const { request, to } = single;
    if (message.to !== '' && normalizeRecipient(message.to) !== to) return;
    this.#singles.delete(message.id);
    const receipt = storedReceipt(message, 0);
    this.#columns.set(this.#first[request] ?? 0, receipt);
    if (receipt.status === 'queued') return;
    this.#learn(request, [receipt]);
    await store?.keep(request, message.id, [receipt]);
  }

  async #addMessages(
    request: PlannedRequest,
    id: string,
    { messages, store, onBatch }: ReceiptSource,
  ): Promise<void> {
    if (messages === null) return;
    const { ofBatch } = await messages();
    onBatch?.();
    const listed = await ofBatch.of(id);
    if ('unlisted' in listed) this.unlisted = true;
    else if ('unread' in listed) this.#leaveUnread(this.#placesOf(request), listed.unread);
    else await this.#match(request, id, listed.messages, store);
  }

  async #match(
    request: PlannedRequest,
    id: string,
    messages: readonly Message[],
    store: ReceiptSource['store'],
  ): Promise<void> {
    const { number, to } = request;
    const first = this.#first[number] ?? 0;
    const removed = this.#state.removed(number);
    const indexes = new Map<string, number>();
    const moved = new Set<string>();
    for (const [index, recipient] of to.entries()) {
      if (!removed.has(index)) indexes.set(recipient, index);
      else if (isMoved(removed.get(index))) moved.add(recipient);
    }
    const found = new Map<number, StoredReceipt>();
    // A pruned message has lost its recipient, but need not belong to a stranger.
    const named = messages.filter((message) => message.to !== '');
    let strangers = 0;
    for (const message of named) {
      const recipient = normalizeRecipient(message.to);
      const index = indexes.get(recipient);
      if (index === undefined) strangers += Number(!moved.has(recipient));
      else found.set(index, storedReceipt(message, index));
    }
    for (const receipt of found.values()) this.#columns.set(first + receipt.index, receipt);
    if (found.size < indexes.size) {
      const missing = [...indexes.values()].filter((index) => !found.has(index));
      if (strangers > 0) this.#raise(number, id, strangers, this.#placesOf(request));
      else this.#addErased(this.#placesOf(request, missing), messages);
      return;
    }
    const receipts = [...found.values()];
    if (receipts.some(({ status }) => status === 'queued')) return;
    this.#learn(number, receipts);
    await store?.keep(number, id, receipts);
  }

  /** Whose message each was is unknown, so these have an outcome only if all of them share it. */
  #addErased(places: readonly number[], messages: readonly Message[]): void {
    const erased = messages.filter(({ to }) => to === '').map((message) => storedReceipt(message, 0));
    const [one] = erased;
    const isShared = (field: keyof Outcome) => erased.every((each) => each[field] === one?.[field]);
    if (one !== undefined && erased.length >= places.length && isShared('status') && isShared('code')) {
      const credits = isShared('credits') ? one.credits : null;
      const delivery = isShared('delivery') ? one.delivery : '';
      for (const place of places) this.#columns.set(place, { ...one, id: '', credits, delivery });
    } else this.#leaveUnread(places, 'not_found');
  }

  /** The carrier's receipts change how many messages are unknown, but no other final figures. */
  #learn(request: number, receipts: readonly StoredReceipt[]): void {
    const { final } = this.#state.details(request);
    if (final === null || receipts.some(({ delivery }) => delivery === '')) return;
    const unknown = receipts.filter(({ delivery }) => delivery === 'unknown').length;
    if (unknown !== final.unknown)
      this.learned.push({ type: 'final', request, code: null, ...final, unknown });
  }

  /** The positions of a request's remaining recipients, or of some of them. */
  #placesOf({ number, to }: PlannedRequest, indexes: Iterable<number> = to.keys()): number[] {
    const first = this.#first[number] ?? 0;
    const removed = this.#state.removed(number);
    return [...indexes].filter((index) => !removed.has(index)).map((index) => first + index);
  }

  /** Keeps the outcomes known without the messages of a batch; each row shows that there is more to know. */
  #leaveUnread(places: readonly number[], code: string): void {
    this.#countUnread({ batches: 1, rows: places.length, code });
    for (const place of places) this.#columns.setCode(place, 'not_read');
  }

  /** The answer was about an earlier request with the same key and the same number of recipients. */
  #raise(request: number, id: string, strangers: number, places: Iterable<number>): void {
    const whom = counted(strangers, 'recipient');
    this.alarms.push({ request, reason: `batch ${id} went to ${whom} of another request with the same key` });
    for (const place of places) this.#columns.set(place, inDoubt);
  }
}

/** The final reports of carriers; `unknown` may still become one of them. */
const finalDeliveries: ReadonlySet<unknown> = new Set(['delivered', 'undelivered', 'bounced']);

const isFinal = ({ status, delivery }: StoredReceipt) => status === 'failed' || finalDeliveries.has(delivery);

/** `unknown` is read again. */
const isKnown = ({ delivery }: StoredReceipt) => delivery !== 'unknown';

/** For example with the code `moved_to:july-retry`. */
function outcomeOfRemoval(removal: Removal): Outcome {
  const code = !isMoved(removal) ? removal : removal.to === '' ? 'moved' : `moved_to:${removal.to}`;
  return { ...unknown, status: statusOfRemoval(removal), code };
}

const unknown = { code: '', credits: null, id: '', delivery: '' } as const;
const inDoubt: Outcome = { ...unknown, status: 'in_doubt' };

/** `delivery` is set if the service reports it; null means no report yet. */
function storedReceipt(message: Message & { delivery?: unknown }, index: number): StoredReceipt {
  const { id, status, error, credits, delivery = '' } = message;
  const known = delivery === null || typeof delivery === 'string' ? delivery : '';
  return { index, id, status, code: error?.code ?? '', credits, delivery: known };
}
