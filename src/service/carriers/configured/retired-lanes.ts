import type { Carrier, Route } from '../carrier.js';

/** Messages without a route wait here until their bound; then they fail and are refunded. */
export const unrouted: Route = { name: 'unrouted', lane: 'unrouted', carriesLinks: true };

/** Messages that are moved at once. */
const capacity = 1_000;

/**
 * Lanes of routes that are no longer configured; nothing is submitted from them. Messages in `moving` lanes move to
 * the lanes of their current routes, those in `closed` lanes wait.
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
