import { type Channel, type Message, type MessagePage, messagePage } from '../../../contract/index.js';
import { pagesOf } from '../../reader/pages.js';
import { isNotOffered, type Reader, timeUp, type Unread } from '../../reader/reader.js';
import type { EntryOf } from '../job/journal/entries.js';
import { type OutcomeClient, readFigures } from './reading.js';

export interface MessageListFilter {
  channel: Channel;
  /** ISO 8601. */
  since: string;
  until?: string;
  delivery?: 'unknown';
  limit: number;
  after?: string;
}

/** `list` is absent if the client does not have it. */
export interface ListingClient {
  messages: {
    get(id: string): Promise<Message>;
    list?(filter: MessageListFilter): PromiseLike<MessagePage>;
  };
}

/** Why the pages ended: nothing is left, the service does not list messages, or the rest could not be read. */
export type PagesEnd = 'end' | 'not offered' | Unread;

/** The job's times, because this machine's clock is not the service's. */
export interface JobSpan {
  channel: Channel;
  /** ISO 8601. */
  begun: string;
  ended: string | null;
}

const day = 86_400_000;
/** Extra pages for other messages of the project. */
const sparePages = 20;

/** Reads the messages of single sends from the list of the project's messages, 1,000 at a time. */
export class SingleMessages {
  readonly #client: ListingClient;
  readonly #reader: Reader;

  constructor(client: ListingClient, reader: Reader) {
    this.#client = client;
    this.#reader = reader;
  }

  /**
   * Yields the pages of a job's time, newest first, as long as the caller wants more of the `wanted` messages: at most
   * five times the pages that they would fill.
   */
  async *pages(
    span: JobSpan,
    wanted: number,
    delivery?: 'unknown',
  ): AsyncGenerator<readonly Message[], PagesEnd> {
    const { messages } = this.#client;
    if (messages.list === undefined) return 'not offered';
    const list = messages.list.bind(messages);
    const filter = { ...filterOf(span), ...(delivery === undefined ? {} : { delivery }) };
    const pages = pagesOf(this.#reader, (page) => list({ ...filter, ...page }));
    const most = sparePages + 5 * Math.ceil(wanted / messagePage.max);
    for (let page = 0; page < most; page += 1) {
      const { value, done } = await pages.next();
      if (!done) yield value.data;
      else if (value === 'repeated') break;
      else return value !== 'end' && isNotOffered(value) ? 'not offered' : value;
    }
    return { ...timeUp, code: 'not_found' };
  }
}

function filterOf({ channel, begun, ended }: JobSpan): Omit<MessageListFilter, 'limit'> {
  const at = (time: string, shift: number) => new Date(Date.parse(time) + shift).toISOString();
  return {
    channel,
    since: at(begun, -day),
    ...(ended === null ? {} : { until: at(ended, day) }),
  };
}

type FinalEntry = EntryOf<'final'>;
type Record = (entries: readonly FinalEntry[]) => Promise<void>;

/** Entries recorded at once. */
const mostEntries = 1_000;

/**
 * The accepted single SMS of a job. Each counts as sent when it is accepted, but that answer never says whether it may
 * not have arrived. The list of unknown messages does, with 1,000 on a page; without lists, the service is asked for
 * each message.
 */
export class SingleSms {
  readonly #client: OutcomeClient & ListingClient;
  readonly #span: JobSpan;
  readonly #requests = new Map<string, number>();

  constructor(client: OutcomeClient & ListingClient, span: JobSpan) {
    this.#client = client;
    this.#span = span;
  }

  add(id: string, request: number): void {
    this.#requests.set(id, request);
  }

  get size(): number {
    return this.#requests.size;
  }

  /** Reads their final figures once. Returns why the rest could not be read; null if nothing is left. */
  async finish(reader: Reader, record: Record): Promise<Unread | null> {
    const unknown = await this.#listUnknown(reader);
    if (unknown === 'not listed') return this.#readEach(reader, record);
    if ('code' in unknown) return unknown;
    await this.#finishAll((id) => Number(unknown.has(id)), record);
    return null;
  }

  /** The ids of all unknown messages from the job's time. */
  async #listUnknown(reader: Reader): Promise<ReadonlySet<string> | 'not listed' | Unread> {
    const ids = new Set<string>();
    const pages = new SingleMessages(this.#client, reader).pages(this.#span, this.size, 'unknown');
    for (;;) {
      const page = await pages.next();
      if (page.done) {
        if (page.value === 'end') return ids;
        // 400: the filter is unknown to the service.
        return page.value === 'not offered' || page.value.status === 400 ? 'not listed' : page.value;
      }
      // The service ignores the filter.
      if (page.value.some(({ delivery }) => delivery !== 'unknown')) return 'not listed';
      for (const { id } of page.value) ids.add(id);
    }
  }

  async #readEach(reader: Reader, record: Record): Promise<Unread | null> {
    for (const [id, request] of this.#requests) {
      const reply = await reader.read(() => readFigures(this.#client, { kind: 'single', id }));
      if (!('value' in reply)) return reply;
      const { sent, failed, code, unknown } = reply.value;
      if (unknown === null) {
        // The service has no such figure for any message.
        await this.#finishAll(() => null, record);
        return null;
      }
      this.#requests.delete(id);
      await record([{ type: 'final', request, sent, failed, code, unknown }]);
    }
    return null;
  }

  async #finishAll(unknownOf: (id: string) => number | null, record: Record): Promise<void> {
    let group: FinalEntry[] = [];
    for (const [id, request] of this.#requests) {
      this.#requests.delete(id);
      group.push({ type: 'final', request, sent: 1, failed: 0, code: null, unknown: unknownOf(id) });
      if (group.length < mostEntries && this.size > 0) continue;
      await record(group);
      group = [];
    }
  }
}
