import type { Clock } from '../clock.js';
import type { Counted, Store } from '../storage/store.js';

/** A count is reused for this many times as long as it took. */
const reuse = 30;
/** If a count takes more milliseconds than this, the last one is shown until it is done. */
const patienceMs = 40;
const recent = 60_000;
const step = 3_600_000;

/** Counts of messages by hour, which live pages request again and again. */
export function createCounts(store: Store, clock: Clock) {
  const known = new Map<string, { since: number; until: number; old: number; counted: Promise<Counted> }>();
  return (projectId: string, since: number): Promise<Counted> => {
    const begun = clock.monotonic();
    const last = known.get(projectId);
    if (last?.since === since && begun < last.until) return last.counted;
    const counting = store.countMessages(projectId, since, step);
    // While it is running, everybody shares it.
    const until = Number.POSITIVE_INFINITY;
    const isRecent = last?.since === since && begun < last.old;
    const entry = { since, until, old: 0, counted: isRecent ? last.counted : counting };
    known.set(projectId, entry);
    counting.then(
      () => {
        const ended = clock.monotonic();
        entry.counted = counting;
        entry.until = ended + reuse * (ended - begun);
        entry.old = ended - begun > patienceMs ? ended + recent : 0;
      },
      () => known.delete(projectId),
    );
    return entry.counted;
  };
}
