import { type Message, type MessagePage, messagePage } from '../../contract/index.js';
import type { RateLimiter } from '../rate-limit/rate-limiter.js';
import { readError } from './answer.js';
import type { Entry } from './journal.js';
import type { Chunk, FrozenPlan } from './plan.js';
import { recipientForm } from './states.js';

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
}

export interface ListingClient {
  batches: { messages(id: string, page: { limit: number; after?: string }): Promise<MessagePage> };
}

export interface ReceiptSource {
  plan: FrozenPlan;
  journal: { replay(onEntry: (entry: Entry) => void): Promise<void> };
  /** Null: only what the journal says. */
  client: ListingClient | null;
  pace: Pick<RateLimiter, 'take' | 'block'>;
  sleep(milliseconds: number): Promise<void>;
  /** Told of each batch whose messages are about to be asked for. */
  onBatch?(): void;
  stop?: AbortSignal;
}

interface ChunkEnd {
  status: ReceiptStatus;
  id: string;
  code: string;
  credits: number | null;
  final: { sent: number; failed: number } | null;
  removed: Set<number> | null;
}

/**
 * What became of every recipient of a job, by its place in the plan: from the journal, and for batches from
 * the service where it lists their messages. About 20 bytes a recipient.
 */
export class Receipts {
  readonly #ends: ReadonlyMap<number, ChunkEnd>;
  readonly #first: Uint32Array;
  readonly #status: Uint8Array;
  readonly #code: Uint8Array;
  readonly #credits: Float32Array;
  readonly #ids: Buffer;
  readonly #oddIds = new Map<number, string>();
  readonly #codes = [''];
  #listing = true;
  /** Accepted batches that are not what was sent. */
  readonly alarms: { chunk: number; reason: string }[] = [];

  private constructor(plan: FrozenPlan, ends: ReadonlyMap<number, ChunkEnd>) {
    const { chunks, recipients } = plan.meta;
    this.#ends = ends;
    this.#first = new Uint32Array(chunks + 1);
    this.#status = new Uint8Array(recipients);
    this.#code = new Uint8Array(recipients);
    this.#credits = new Float32Array(recipients).fill(Number.NaN);
    this.#ids = Buffer.alloc(recipients * 16);
  }

  static async gather(source: ReceiptSource): Promise<Receipts> {
    const receipts = new Receipts(source.plan, await endsOf(source.journal));
    for await (const chunk of source.plan.chunks()) await receipts.#take(chunk, source);
    return receipts;
  }

  /** Whether single messages of batches are known, and not only the figures of the batches. */
  get complete(): boolean {
    return this.#listing;
  }

  of({ chunk, index }: { chunk: number; index: number }): Receipt {
    const place = (this.#first[chunk] ?? 0) + index;
    const end = this.#ends.get(chunk);
    const isBatch = (this.#first[chunk + 1] ?? 0) - (this.#first[chunk] ?? 0) > 1;
    const status = receiptStatuses[this.#status[place] ?? 0] ?? 'pending';
    const credits = this.#credits[place] ?? Number.NaN;
    return {
      messageId: this.#readId(place),
      batchId:
        isBatch && (status === 'sent' || status === 'queued' || status === 'failed') ? (end?.id ?? '') : '',
      status,
      errorCode: this.#codes[this.#code[place] ?? 0] ?? '',
      credits: Number.isNaN(credits) ? null : credits,
    };
  }

  async #take(chunk: Chunk, source: ReceiptSource): Promise<void> {
    const first = this.#first[chunk.number] ?? 0;
    this.#first[chunk.number + 1] = first + chunk.to.length;
    const end = this.#ends.get(chunk.number);
    if (end === undefined) return;
    const left = chunk.to.length - (end.removed?.size ?? 0);
    const { sent, failed } = end.final ?? { sent: 0, failed: 0 };
    const isFinal = end.final !== null && (sent === left || failed === left);
    const isSms = source.plan.meta.channel === 'sms' && chunk.kind === 'single';
    const status =
      end.status !== 'queued'
        ? end.status
        : isFinal
          ? failed > 0
            ? 'failed'
            : 'sent'
          : isSms
            ? 'sent'
            : 'queued';
    for (const index of chunk.to.keys()) {
      const removed = end.removed?.has(index) === true;
      this.#set(first + index, {
        status: removed ? 'rejected' : status,
        code: removed ? 'invalid_request' : end.code,
        credits: removed || end.credits === null ? null : status === 'failed' ? 0 : end.credits / left,
        id: chunk.kind === 'single' && !removed ? end.id : '',
      });
    }
    if (chunk.kind === 'batch' && end.status === 'queued' && source.client !== null) {
      source.onBatch?.();
      await this.#list(chunk, end.id, end.removed ?? new Set(), source);
    }
  }

  async #list(chunk: Chunk, id: string, removed: ReadonlySet<number>, source: ReceiptSource): Promise<void> {
    const first = this.#first[chunk.number] ?? 0;
    const places = new Map<string, number>();
    for (const [index, to] of chunk.to.entries()) if (!removed.has(index)) places.set(to, first + index);
    const missing = new Set(places.keys());
    let strangers = 0;
    let after: string | null = null;
    while (this.#listing) {
      const page = await this.#page(id, after, source);
      if (page === null) return;
      for (const message of page.data) {
        const to = recipientForm(message.to);
        const place = places.get(to);
        if (place === undefined) strangers += 1;
        else this.#set(place, receiptOf(message));
        missing.delete(to);
      }
      after = page.next;
      if (after !== null) continue;
      if (strangers > 0 && missing.size > 0) this.#raise(chunk.number, id, strangers, places.values());
      return;
    }
  }

  /** The key was used before for another request with as many recipients: the answer was about that one. */
  #raise(chunk: number, id: string, strangers: number, places: Iterable<number>): void {
    const whom = strangers === 1 ? '1 recipient' : `${strangers} recipients`;
    this.alarms.push({ chunk, reason: `batch ${id} went to ${whom} of another request with the same key` });
    for (const place of places) this.#set(place, { status: 'in_doubt', code: '', credits: null, id: '' });
  }

  /** Null when there is nothing to be had; a service that does not list messages is asked only once. */
  async #page(
    id: string,
    after: string | null,
    { client, pace, sleep, stop }: ReceiptSource,
  ): Promise<MessagePage | null> {
    for (let tries = 1; client !== null; tries += 1) {
      if (!(await pace.take('reading', stop))) return null;
      try {
        return await client.batches.messages(id, {
          limit: messagePage.max,
          ...(after === null ? {} : { after }),
        });
      } catch (error) {
        const answer = readError(error);
        const refused = answer.kind === 'refusal' && answer.status !== 429;
        if (refused || tries === 5) {
          this.#listing = false;
          return null;
        }
        await sleep(answer.kind === 'refusal' ? (answer.retryAfter ?? 1) * 1_000 : 500 * 2 ** tries);
      }
    }
    return null;
  }

  #set(
    place: number,
    receipt: { status: ReceiptStatus; code: string; credits: number | null; id: string },
  ): void {
    this.#status[place] = receiptStatuses.indexOf(receipt.status);
    this.#credits[place] = receipt.credits ?? Number.NaN;
    const known = this.#codes.indexOf(receipt.code);
    this.#code[place] = known === -1 ? this.#codes.push(receipt.code) - 1 : known;
    this.#writeId(place, receipt.id);
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

function receiptOf({ id, status, error, credits }: Message) {
  return { id, status, code: error?.code ?? '', credits };
}

async function endsOf(journal: ReceiptSource['journal']): Promise<Map<number, ChunkEnd>> {
  const ends = new Map<number, ChunkEnd>();
  const at = (chunk: number): ChunkEnd => {
    const end = ends.get(chunk) ?? {
      status: 'pending',
      id: '',
      code: '',
      credits: null,
      final: null,
      removed: null,
    };
    ends.set(chunk, end);
    return end;
  };
  await journal.replay((entry) => {
    switch (entry[0]) {
      case 'send':
        Object.assign(at(entry[1]), { status: 'in_doubt', code: '' });
        break;
      case 'accepted':
        Object.assign(at(entry[1]), { status: 'queued', id: entry[3], credits: entry[4] });
        break;
      case 'alarm':
        Object.assign(at(entry[1]), { status: 'in_doubt', id: '', credits: null, final: null });
        break;
      case 'rejected':
        Object.assign(at(entry[1]), { status: 'rejected', code: entry[3] });
        break;
      case 'failed':
        Object.assign(at(entry[1]), { status: 'failed', code: entry[3], id: entry[4] ?? '', credits: 0 });
        break;
      case 'refused':
        Object.assign(at(entry[1]), { status: 'pending', code: entry[3] });
        break;
      case 'revised':
        Object.assign(at(entry[1]), { status: 'pending', code: '', id: '', credits: null });
        break;
      case 'removed': {
        const end = at(entry[1]);
        end.status = 'pending';
        end.removed ??= new Set();
        for (const index of entry[3]) end.removed.add(index);
        break;
      }
      case 'final':
        Object.assign(at(entry[1]), {
          final: { sent: entry[2], failed: entry[3] },
          ...(entry[4] === null ? {} : { code: entry[4] }),
        });
        break;
    }
  });
  return ends;
}
