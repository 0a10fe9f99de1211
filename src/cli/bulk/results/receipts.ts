import type { Message } from '../../../contract/index.js';
import type { Entry } from '../job/journal.js';
import { endsOf, type RequestEnd } from '../job/request-details.js';
import type { FrozenPlan, PlannedRequest } from '../plan/plan.js';
import { recipientForm } from '../send/transitions.js';
import type { Listing } from './batch-messages.js';
import type { ReceiptStore, StoredReceipt } from './receipt-store.js';

/** `in_doubt` is nothing `--only` can choose: only the job's own keys may send it again. */
export const receiptStatuses = ['pending', 'in_doubt', 'queued', 'sent', 'failed', 'rejected'] as const;
export type ReceiptStatus = (typeof receiptStatuses)[number];

/** What became of one recipient. */
export interface Receipt {
  messageId: string;
  batchId: string;
  status: ReceiptStatus;
  errorCode: string;
  credits: number | null;
  delivery: string;
}

export interface ReceiptSource {
  plan: FrozenPlan;
  journal: { replay(onEntry: (entry: Entry) => void): Promise<void> };
  /** Null: only what this machine knows. */
  listing: Pick<Listing, 'messagesOf'> | null;
  /** Where final outcomes are kept; null: nowhere. */
  store: Pick<ReceiptStore, 'read' | 'keep'> | null;
  /** Reads again what is kept already. */
  refresh?: boolean | undefined;
  /** Told of each batch whose messages are about to be asked for. */
  onBatch?(): void;
}

/**
 * What became of every recipient of a job, by its place in the plan: from the journal, and for batches from
 * the service where it lists their messages. About 20 bytes a recipient.
 */
export class Receipts {
  readonly #ends: ReadonlyMap<number, RequestEnd>;
  readonly #first: Uint32Array;
  readonly #status: Uint8Array;
  readonly #code: Uint16Array;
  readonly #delivery: Uint16Array;
  readonly #credits: Float32Array;
  readonly #ids: Buffer;
  readonly #oddIds = new Map<number, string>();
  readonly #words = [''];
  /** The service does not list the messages of a batch: its figures have to do. */
  unlisted = false;
  /** Batches and rows whose messages could not be read, and why the first of them could not. */
  unread: { batches: number; rows: number; code: string } | null = null;
  /** Rows that had no delivery report when they were kept. */
  unreported = 0;
  /** Accepted batches that are not what was sent. */
  readonly alarms: { request: number; reason: string }[] = [];

  private constructor(plan: FrozenPlan, ends: ReadonlyMap<number, RequestEnd>) {
    const { requests, recipients } = plan.meta;
    this.#ends = ends;
    this.#first = new Uint32Array(requests + 1);
    this.#status = new Uint8Array(recipients);
    this.#code = new Uint16Array(recipients);
    this.#delivery = new Uint16Array(recipients);
    this.#credits = new Float32Array(recipients).fill(Number.NaN);
    this.#ids = Buffer.alloc(recipients * 16);
  }

  static async gather(source: ReceiptSource): Promise<Receipts> {
    const receipts = new Receipts(source.plan, await endsOf(source.journal));
    for await (const request of source.plan.requests()) await receipts.#take(request, source);
    return receipts;
  }

  of({ request, index }: { request: number; index: number }): Receipt {
    const place = (this.#first[request] ?? 0) + index;
    const end = this.#ends.get(request);
    const isBatch = (this.#first[request + 1] ?? 0) - (this.#first[request] ?? 0) > 1;
    const status = receiptStatuses[this.#status[place] ?? 0] ?? 'pending';
    const credits = this.#credits[place] ?? Number.NaN;
    return {
      messageId: this.#readId(place),
      batchId:
        isBatch && (status === 'sent' || status === 'queued' || status === 'failed') ? (end?.id ?? '') : '',
      status,
      errorCode: this.#words[this.#code[place] ?? 0] ?? '',
      credits: Number.isNaN(credits) ? null : credits,
      delivery: this.#words[this.#delivery[place] ?? 0] ?? '',
    };
  }

  async #take(request: PlannedRequest, source: ReceiptSource): Promise<void> {
    const first = this.#first[request.number] ?? 0;
    this.#first[request.number + 1] = first + request.to.length;
    const end = this.#ends.get(request.number);
    if (end === undefined) return;
    const left = request.to.length - (end.removed?.size ?? 0);
    const isSms = source.plan.meta.channel === 'sms' && request.kind === 'single';
    const status = end.status === 'queued' ? acceptedStatus(end, left, isSms) : end.status;
    for (const index of request.to.keys()) {
      const removed = end.removed?.has(index) === true;
      this.#set(first + index, {
        status: removed ? 'rejected' : status,
        code: end.removed?.get(index) ?? end.code,
        credits: removed || end.credits === null ? null : status === 'failed' ? 0 : end.credits / left,
        id: request.kind === 'single' && !removed ? end.id : '',
      });
    }
    if (request.kind === 'batch' && end.status === 'queued') {
      await this.#takeMessages(request, end.id, end.removed ?? new Map(), source);
    }
  }

  async #takeMessages(
    request: PlannedRequest,
    id: string,
    removed: ReadonlyMap<number, string>,
    { listing, store, refresh, onBatch }: ReceiptSource,
  ): Promise<void> {
    const first = this.#first[request.number] ?? 0;
    const left = request.to.length - removed.size;
    const stored = refresh ? null : ((await store?.read(request.number, id)) ?? null);
    if (stored !== null && stored.length === left) {
      for (const each of stored) this.#set(first + each.index, each);
      this.unreported += stored.filter(({ delivery }) => delivery === null).length;
      return;
    }
    if (listing === null) return;
    onBatch?.();
    const listed = await listing.messagesOf(id);
    if ('unlisted' in listed) this.unlisted = true;
    else if ('unread' in listed) this.#leaveUnread(request, removed, listed.unread);
    else await this.#match(request, id, removed, listed.messages, store);
  }

  async #match(
    request: PlannedRequest,
    id: string,
    removed: ReadonlyMap<number, string>,
    messages: readonly Message[],
    store: ReceiptSource['store'],
  ): Promise<void> {
    const first = this.#first[request.number] ?? 0;
    const indexes = new Map<string, number>();
    for (const [index, to] of request.to.entries()) if (!removed.has(index)) indexes.set(to, index);
    const found = new Map<number, StoredReceipt>();
    // A pruned message has lost its recipient, and is nobody else's for that.
    const named = messages.filter(({ to }) => to !== '');
    let strangers = 0;
    for (const message of named) {
      const index = indexes.get(recipientForm(message.to));
      if (index === undefined) strangers += 1;
      else found.set(index, receiptOf(message, index));
    }
    for (const receipt of found.values()) this.#set(first + receipt.index, receipt);
    if (found.size < indexes.size) {
      if (strangers > 0)
        this.#raise(
          request.number,
          id,
          strangers,
          [...indexes.values()].map((at) => first + at),
        );
      return;
    }
    const receipts = [...found.values()];
    if (receipts.every(({ status }) => status !== 'queued')) await store?.keep(request.number, id, receipts);
  }

  /** What is known without its messages stays; that there is more to know is said in each row. */
  #leaveUnread(request: PlannedRequest, removed: ReadonlyMap<number, string>, code: string): void {
    const first = this.#first[request.number] ?? 0;
    const { batches, rows, code: why } = this.unread ?? { batches: 0, rows: 0, code };
    this.unread = { batches: batches + 1, rows: rows + request.to.length - removed.size, code: why };
    for (const index of request.to.keys())
      if (!removed.has(index)) this.#code[first + index] = this.#word('not_read');
  }

  /** The key was used before for another request with as many recipients: the answer was about that one. */
  #raise(request: number, id: string, strangers: number, places: Iterable<number>): void {
    const whom = strangers === 1 ? '1 recipient' : `${strangers} recipients`;
    this.alarms.push({ request, reason: `batch ${id} went to ${whom} of another request with the same key` });
    for (const place of places) this.#set(place, { status: 'in_doubt', code: '', credits: null, id: '' });
  }

  #set(
    place: number,
    receipt: {
      status: ReceiptStatus;
      code: string;
      credits: number | null;
      id: string;
      delivery?: string | null;
    },
  ): void {
    this.#status[place] = receiptStatuses.indexOf(receipt.status);
    this.#credits[place] = receipt.credits ?? Number.NaN;
    this.#code[place] = this.#word(receipt.code);
    this.#delivery[place] = this.#word(receipt.delivery ?? '');
    this.#writeId(place, receipt.id);
  }

  /** The number of a word; a service that makes up a new one for each row has them cut. */
  #word(word: string): number {
    const known = this.#words.indexOf(word);
    if (known !== -1) return known;
    return this.#words.length < mostWords ? this.#words.push(word) - 1 : 0;
  }

  #writeId(place: number, id: string): void {
    const isUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(id);
    this.#ids.write(isUuid ? id.replaceAll('-', '') : '0'.repeat(32), place * 16, 'hex');
    if (isUuid || id === '') this.#oddIds.delete(place);
    else this.#oddIds.set(place, id);
  }

  #readId(place: number): string {
    const hex = this.#ids.toString('hex', place * 16, place * 16 + 16);
    if (/^0*$/.test(hex)) return this.#oddIds.get(place) ?? '';
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }
}

const mostWords = 1_000;

/** Of an accepted request, as far as it is known without its messages. */
function acceptedStatus({ final, unsure }: RequestEnd, left: number, isSms: boolean): ReceiptStatus {
  if (final === null) return isSms ? 'sent' : unsure ? 'in_doubt' : 'queued';
  if (final.sent + final.failed !== left) return 'in_doubt';
  if (final.failed === left) return 'failed';
  return final.sent === left ? 'sent' : 'queued';
}

/** `delivery` is there where the service reports it; null is no report yet. */
function receiptOf(message: Message & { delivery?: unknown }, index: number): StoredReceipt {
  const { id, status, error, credits, delivery = '' } = message;
  const known = delivery === null || typeof delivery === 'string' ? delivery : '';
  return { index, id, status, code: error?.code ?? '', credits, delivery: known };
}
