import type { Reader, Unread } from '../../reader/reader.js';
import type { EntryOf } from '../job/journal/entries.js';
import { type OutcomeClient, readFigures } from './reading.js';
import { type JobSpan, type ListingClient, SingleMessages } from './single-messages.js';

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
    while (this.size > 0) {
      const group = [...this.#requests].slice(0, mostEntries);
      for (const [id] of group) this.#requests.delete(id);
      const entries = group.map(([id, request]): FinalEntry => {
        return { type: 'final', request, sent: 1, failed: 0, code: null, unknown: unknownOf(id) };
      });
      await record(entries);
    }
  }
}
