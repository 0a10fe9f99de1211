import type { Dispatching } from '../storage/store.js';
import type { Lane } from './lane.js';

type Work = Awaited<ReturnType<Dispatching['nextWork']>>;

/** Milliseconds between looks for what other processes leave behind. */
export const lookEvery = 1_000;
/** Between looks at what is held up, and at single messages whose lane is closed: they need another route in time. */
const [heldUpEvery, closedEvery] = [100, 250];

export function isDue(wait: number | null | undefined): boolean {
  return wait !== null && wait !== undefined && wait <= 0;
}

/** Milliseconds until the next look, by what is left after one; null where none is needed. `closed`: no room. */
export function nextLook(
  lanes: { open: readonly Lane[]; closed: readonly Lane[] },
  next: Work,
  held: Work | null,
  isShared: boolean,
): number | null {
  // What is due and was not claimed may not go out now.
  const atLeast = (wait: number | null | undefined, least: number) =>
    wait === null || wait === undefined ? null : Math.max(wait, least);
  const isHeldUp = lanes.open.some(({ troubles }) => !troubles.isCalm);
  const isRepeating = [...lanes.open, ...lanes.closed].some(({ wantedDoubts }) => wantedDoubts === 0);
  const betweenDoubts = isRepeating ? heldUpEvery : 0;
  const waits = [
    atLeast(next.messages, isHeldUp ? heldUpEvery : 0),
    atLeast(next.doubts, betweenDoubts),
    next.leases,
    atLeast(held?.overdue, closedEvery),
    atLeast(held?.doubts, betweenDoubts),
    lanes.closed.length > 0 || isShared ? lookEvery : null,
  ].filter((wait) => wait !== null);
  return waits.length === 0 ? null : Math.min(...waits);
}
