import { messagePage } from '../../contract/index.js';
import type { Context } from '../context.js';
import { pages, type ReadPage } from '../reader/pages.js';
import { lookupReader } from './wait.js';

const before = (time: string, milliseconds: number) =>
  new Date(Date.parse(time) - milliseconds).toISOString();

interface Followed {
  id: string;
  created_at?: string;
}

export interface FollowOptions<Item> {
  limit: number;
  /** Whether an item's status may make it match the filter after newer items. */
  matchesLater: boolean;
  /** False for an item that still changes, for up to a day: it is held back. */
  isReady?: (item: Item) => boolean;
}

const pause = 2_000;
/** Instances that accept at the same time may briefly show their items out of order. */
const overlap = 60_000;
/** How long after newer items an item's status may make it match. */
const longestDelay = 3_600_000;
const longestHeld = 86_400_000;

/**
 * The newest `limit` items, then new ones, in batches with the oldest first; ends when nobody reads. A temporary
 * failure is retried. A list is in the order of acceptance: if the service's clock was set back, a new item precedes
 * known ones, whatever its time.
 */
export async function* followed<Item extends Followed>(
  { io, clock, signal, network }: Pick<Context, 'io' | 'clock' | 'signal' | 'network'>,
  readPage: ReadPage<Item>,
  { limit, matchesLater, isReady }: FollowOptions<Item>,
): AsyncGenerator<Item[], void> {
  const window = matchesLater ? longestDelay : overlap;
  const seen = new Map<string, string>();
  let newest = '';
  /** When the oldest held-back item was created. */
  let held: string | undefined;
  const horizonOf = (time: string) => {
    const horizon = before(time, window);
    return held !== undefined && held < horizon ? held : horizon;
  };
  /** The service's clock may be behind the newest item. */
  const nextFrom = () => {
    const now = new Date(network.lastExchange?.serviceTime ?? clock.now()).toISOString();
    const horizon = horizonOf(newest);
    return before(now, window) < horizon ? before(now, window) : horizon;
  };
  const readNew = async (from: string | undefined, enough: number, reach = window): Promise<Item[]> => {
    const ready: Item[] = [];
    const read: [id: string, created: string][] = [];
    let newestFound = '';
    let oldestHeld: string | undefined;
    const known = newest === '' ? '' : horizonOf(newest);
    const met = new Set<string>();
    for await (const { data } of pages(readPage, messagePage.max, from)) {
      for (const item of data) {
        const { id, created_at = '' } = item;
        const isOld = met.size > 0 && created_at < known;
        if (isOld || seen.has(id)) {
          met.add(id);
          continue;
        }
        if (created_at > newestFound) newestFound = created_at;
        if (isReady?.(item) === false) {
          oldestHeld = created_at;
          continue;
        }
        read.push([id, created_at]);
        if (ready.length < enough) ready.push(item);
      }
      const { created_at: oldest = '' } = data.at(-1) ?? {};
      const isPast = oldest !== '' && newestFound !== '' && oldest < before(newestFound, reach);
      if (isPast && ready.length >= enough) break;
    }
    held = oldestHeld;
    if (newestFound > newest) newest = newestFound;
    const horizon = newest === '' ? '' : horizonOf(newest);
    for (const [id, created] of seen) if (created < horizon && !met.has(id)) seen.delete(id);
    for (const [id, created] of read) seen.set(id, created);
    return ready.reverse();
  };

  // So that no held-back item is missed.
  const reach = isReady === undefined ? window : longestHeld;
  yield await readNew(undefined, limit, reach);
  const reader = lookupReader(
    { clock, signal },
    {
      timeout: () => Number.POSITIVE_INFINITY,
      onFault: ({ message }) => io.warn(`${message}; still trying`),
    },
  );
  for (;;) {
    await clock.sleep(pause, signal);
    const reply = await reader.read(async () => {
      // A closed pipe.
      if (io.printer.failure !== null) return null;
      return readNew(newest === '' ? undefined : nextFrom(), Number.POSITIVE_INFINITY);
    });
    if (!('value' in reply)) throw reply.error;
    if (reply.value === null) return;
    yield reply.value;
  }
}
