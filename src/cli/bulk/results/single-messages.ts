import { type Channel, type Message, type MessagePage, messagePage } from '../../../contract/index.js';
import { isNotOffered, type Reader, type Reply } from './reader.js';

export interface MessageListFilter {
  channel: Channel;
  /** ISO 8601. */
  since: string;
  until?: string;
  limit: number;
  after?: string;
}

/** `list` is absent where the client does not have it. */
export interface ListingClient {
  messages: {
    get(id: string): Promise<Message>;
    list?(filter: MessageListFilter): PromiseLike<MessagePage>;
  };
}

/** A job's own time: the clock of this machine is not the service's. */
export interface JobSpan {
  channel: Channel;
  /** ISO 8601. */
  begun: string;
  ended: string | null;
}

const day = 86_400_000;
/** Pages that other messages of the project may take. */
const sparePages = 20;

/** Reads the messages of single sends, from the list of the project's messages: 1,000 at once. */
export class SingleMessages {
  readonly #client: ListingClient;
  readonly #reader: Reader;

  constructor(client: ListingClient, reader: Reader) {
    this.#client = client;
    this.#reader = reader;
  }

  /**
   * Yields the pages of a job's time, newest first, as long as the caller wants more of the `wanted` messages: at most
   * five times the pages that these would fill. Returns the code of why the rest was not read; null where nothing is
   * left, or the service does not list messages.
   */
  async *pages(span: JobSpan, wanted: number): AsyncGenerator<readonly Message[], string | null> {
    const { messages } = this.#client;
    if (messages.list === undefined) return null;
    const most = sparePages + 5 * Math.ceil(wanted / messagePage.max);
    let after: string | null = null;
    for (let page = 0; page < most; page += 1) {
      const filter: MessageListFilter = { ...filterOf(span), ...(after === null ? {} : { after }) };
      const reply: Reply<MessagePage> = await this.#reader.read(
        async () => (await messages.list?.(filter)) ?? { data: [], next: null },
      );
      if (isNotOffered(reply)) return null;
      if (!('value' in reply)) return 'unread' in reply ? reply.unread : reply.refused;
      yield reply.value.data;
      after = reply.value.next;
      if (after === null) return null;
    }
    return 'not_found';
  }
}

function filterOf({ channel, begun, ended }: JobSpan): MessageListFilter {
  const at = (time: string, shift: number) => new Date(Date.parse(time) + shift).toISOString();
  return {
    channel,
    since: at(begun, -day),
    ...(ended === null ? {} : { until: at(ended, day) }),
    limit: messagePage.max,
  };
}
