import type { Dispatching } from '../storage/store.js';
import type { Lane } from './lane.js';

type Work = Awaited<ReturnType<Dispatching['nextWork']>>;

/** Milliseconds between polls for messages that other processes left behind. */
export const pollEvery = 1_000;
/** Milliseconds between polls for messages that are held up. */
const heldUpEvery = 100;
/** Milliseconds between polls for single messages in a closed lane, which need another route in time. */
const closedEvery = 250;

export function isDue(wait: number | null | undefined): boolean {
  return wait !== null && wait !== undefined && wait <= 0;
}

/**
 * Milliseconds until the next poll, after one that left this work; null if none is needed. `closed`: without room;
 * `ageing`: those of them in which messages end for their age.
 */
export function nextPoll(
  lanes: Record<'open' | 'closed' | 'ageing', readonly Lane[]>,
  openWork: Work,
  closedWork: Work | null,
  isShared: boolean,
): number | null {
  // Due messages that were not claimed may not be sent now.
  const atLeast = (wait: number | null | undefined, least: number) =>
    wait === null || wait === undefined ? null : Math.max(wait, least);
  const isHeldUp = lanes.open.some(({ troubles }) => !troubles.isCalm);
  const isRepeating = [...lanes.open, ...lanes.closed].some(({ wantedDoubts }) => wantedDoubts === 0);
  const betweenDoubts = isRepeating ? heldUpEvery : 0;
  const waits = [
    atLeast(openWork.messages, isHeldUp ? heldUpEvery : 0),
    atLeast(openWork.doubts, betweenDoubts),
    openWork.leases,
    lanes.ageing.length > 0 ? atLeast(closedWork?.overdue, closedEvery) : null,
    atLeast(closedWork?.doubts, betweenDoubts),
    lanes.closed.length > 0 || isHeldUp || isShared ? pollEvery : null,
  ].filter((wait) => wait !== null);
  return waits.length === 0 ? null : Math.min(...waits);
}
