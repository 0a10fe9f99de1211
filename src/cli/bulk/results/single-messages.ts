import { type Channel, type Message, type MessagePage, messagePage } from '../../../contract/index.js';
import { pagesOf } from '../../reader/pages.js';
import { isNotOffered, type Reader, timeUp, type Unread } from '../../reader/reader.js';

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
