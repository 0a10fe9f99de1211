import { recipientCaps } from '../../contract/index.js';

/** Maximum messages to a recipient in each window of `recipientCaps`, in its order. */
export type Caps = readonly number[];

/** The longest window, in milliseconds. */
export const longestWindow = Math.max(...recipientCaps.map((cap) => cap.windowSeconds)) * 1_000;

/** How many earlier messages the highest possible caps depend on. */
export const earlierMessages = Math.max(...recipientCaps.map((cap) => cap.maxMessages));

/**
 * When the recipient may get a message again; null for at once. `earlier`: when counted messages were accepted,
 * newest first; `at`: when this one is (Limits, Per-recipient caps).
 */
export function cappedUntil(earlier: readonly number[], caps: Caps, at: number): number | null {
  let until: number | null = null;
  recipientCaps.forEach(({ windowSeconds }, index) => {
    const most = caps[index] ?? 0;
    const window = windowSeconds * 1_000;
    // With the cap reached, the window has room again when the cap-th newest message leaves it.
    const deciding = earlier[most - 1];
    if (deciding !== undefined && deciding > at - window) until = Math.max(until ?? 0, deciding + window);
  });
  return until;
}
