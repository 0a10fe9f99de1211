import { recipientCaps } from '../../contract/index.js';

/** Maximum messages to a recipient in each window of `recipientCaps`, in its order. */
export type Caps = readonly number[];

/** Those of all tags of an address together. */
export const mailboxCaps: Caps = recipientCaps.map((cap) => cap.maxMessages);

/** When counted messages were accepted, newest first. */
export interface Earlier {
  /** To the recipient. */
  own: readonly number[];
  /** To any tag of its address; the same for a number. */
  all: readonly number[];
}

/** The longest window, in milliseconds. */
export const longestWindow = Math.max(...recipientCaps.map((cap) => cap.windowSeconds)) * 1_000;

/** How many earlier messages the highest possible caps depend on. */
export const earlierMessages = Math.max(...mailboxCaps);

/** When the recipient may get a message again; null for at once. `at`: when this one is accepted. */
export function cappedUntil({ own, all }: Earlier, caps: Caps, at: number): number | null {
  const until = [windowUntil(own, caps, at), windowUntil(all, mailboxCaps, at)].filter(
    (each) => each !== null,
  );
  return until.length === 0 ? null : Math.max(...until);
}

/**
 * When the recipient may get a message again; null for at once. `earlier`: when counted messages were accepted,
 * newest first; `at`: when this one is (Limits, Per-recipient caps).
 */
function windowUntil(earlier: readonly number[], caps: Caps, at: number): number | null {
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
