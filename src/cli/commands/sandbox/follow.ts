import type { Delivery } from '../../../service/index.js';
import type { Clock } from '../../time/clock.js';

type Outbox = (filter: { to?: string; limit?: number }) => AsyncIterable<Delivery>;

const pollEvery = 500;
/** The newest deliveries read at once; more only after a burst. */
const pages = [32, 1_024, undefined];

/** Deliveries as they arrive, in endless batches; the first has the newest `limit`, or all. */
export async function* followedDeliveries(
  outbox: Outbox,
  clock: Clock,
  { to, limit }: { to?: string | undefined; limit?: number | undefined },
): AsyncGenerator<Delivery[], void> {
  const read = async (most: number | undefined): Promise<Delivery[]> => {
    const found: Delivery[] = [];
    const filter = { ...(to === undefined ? {} : { to }), ...(most === undefined ? {} : { limit: most }) };
    for await (const each of outbox(filter)) found.push(each);
    return found;
  };
  const known = await read(limit);
  yield known;
  let last = (limit === 0 ? await read(1) : known).at(-1)?.message_id;
  for (;;) {
    await clock.sleep(pollEvery);
    for (const most of pages) {
      const found = await read(most);
      const at = found.findLastIndex(({ message_id: id }) => id === last);
      // After a reset the last one is gone, so all are new.
      if (at < 0 && most !== undefined && found.length === most) continue;
      last = found.at(-1)?.message_id;
      yield found.slice(at + 1);
      break;
    }
  }
}
