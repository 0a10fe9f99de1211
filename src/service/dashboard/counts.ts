import type { Clock } from '../clock.js';
import type { Counted, Store } from '../storage/store.js';

/** A count is used again for this many times as long as it took. */
const reuse = 30;
const step = 3_600_000;

/** Counts of messages by the hour, which live pages ask for again and again. */
export function createCounts(store: Store, clock: Clock) {
  const known = new Map<string, { since: number; until: number; counted: Promise<Counted> }>();
  return (projectId: string, since: number): Promise<Counted> => {
    const begun = clock.monotonic();
    const last = known.get(projectId);
    if (last?.since === since && begun < last.until) return last.counted;
    const counted = store.countMessages(projectId, since, step);
    // While it is under way everybody waits for the same one.
    const entry = { since, until: Number.POSITIVE_INFINITY, counted };
    known.set(projectId, entry);
    counted.then(
      () => {
        const ended = clock.monotonic();
        entry.until = ended + reuse * (ended - begun);
      },
      () => known.delete(projectId),
    );
    return counted;
  };
}
