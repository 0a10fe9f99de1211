import type { RepeatRoom, Reservation, Route } from '../carriers/carrier.js';
import type { AcceptanceClaim, ClaimedMessage, Finalized } from '../storage/store.js';
import type { Lane } from './lane.js';

/** Messages about to be accepted: their first routes, and room for them. */
export interface Slot {
  /** In the order of the messages. */
  routes: readonly Route[];
  /** The routes of the first message that are not paused. */
  ways?: readonly Way[];
  /** The owner of the service paused a first route. */
  isPaused?: boolean;
  /** Null without room: whichever process claims them dispatches them in turn. */
  claim: AcceptanceClaim | null;
  /**
   * Dispatches the accepted messages of the claim. Must be called once, with none if nothing was accepted. Resolves
   * when the first one is finished, with null while that is not known. Never rejects.
   */
  dispatch(claimed: readonly ClaimedMessage[]): Promise<Finalized | null>;
}

/** A route; down if it has had no connection for a while, so waiting for it would be in vain. */
export interface Way {
  route: Route;
  isDown: boolean;
}

/** Room for a message in its carrier, released once its disposition is written. */
export interface Held {
  reservation?: Reservation | null;
  repeat?: RepeatRoom | null;
}

/** Reserves room for one message on each route; null unless there is room for all. */
export function takeRoom(
  lanes: ReadonlyMap<string, Lane>,
  routes: readonly Route[],
): { doubtMs: number; release(): void } | null {
  const counts = new Map<Lane, number>();
  for (const route of routes) {
    const lane = lanes.get(route.lane);
    // A message that waits for room in its carrier is marked only when it gets it.
    if (lane === undefined || lane.carrier.reserve !== undefined) return null;
    counts.set(lane, (counts.get(lane) ?? 0) + 1);
  }
  const kind = routes.length === 1 ? 'single' : 'batch';
  for (const [lane, count] of counts) if (!lane.troubles.isCalm || lane.room(kind) < count) return null;
  for (const [lane, count] of counts) lane.take(count);
  return {
    doubtMs: Math.max(...[...counts.keys()].map(({ carrier }) => carrier.doubtMs)),
    release() {
      for (const [lane, count] of counts) lane.release(count);
    },
  };
}

/** `all`: the routes of each message, its first one first. */
export function slotWithoutRoom(
  lanes: ReadonlyMap<string, Lane>,
  all: readonly (readonly [Route, ...Route[]])[],
): Slot {
  const routes = all.map(([first]) => first);
  const isPaused = ({ lane }: Route) => lanes.get(lane)?.isPaused === true;
  const isDown = ({ lane }: Route) => lanes.get(lane)?.isDown === true;
  const [first = []] = all;
  const ways = first.filter((route) => !isPaused(route)).map((route) => ({ route, isDown: isDown(route) }));
  return { routes, ways, isPaused: routes.some(isPaused), claim: null, dispatch: async () => null };
}
