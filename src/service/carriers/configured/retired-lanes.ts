import type { Carrier, Route } from '../carrier.js';

/** Messages that have no route any more wait here, until their bound: then they fail and are refunded. */
export const unrouted: Route = { name: 'unrouted', lane: 'unrouted', carriesLinks: true };

/** Messages that move at once. */
const capacity = 1_000;

/**
 * Lanes that nothing submits from: of routes that are no longer configured. Messages of the `moving` ones move to the
 * lanes of their routes of today; those of the `closed` ones wait.
 */
export function retiredLanes(moving: readonly string[], closed: readonly string[]): Carrier {
  return {
    lanes: [...moving, ...closed, unrouted.lane],
    kind: 'retired',
    submitMs: 1_000,
    doubtMs: 300_000,
    start: async () => {},
    stop: async () => {},
    capacity: (lane) => (moving.includes(lane) ? capacity : 0),
    submit: async () => {
      throw new Error('a retired lane submits nothing');
    },
  };
}
