/** How the recipients of an accepted chunk ended. */
export interface End {
  sent: number;
  failed: number;
  /** Those of whom nobody says whether they were sent to. */
  unsure: number;
}

export const noEnd: End = { sent: 0, failed: 0, unsure: 0 };

/** The end of so many recipients. What the figures have too few, or too many, nobody knows the end of. */
export function endOf(recipients: number, sent: number, failed: number): End {
  const unsure = Math.min(recipients, Math.abs(recipients - sent - failed));
  const certainlyFailed = Math.min(failed, recipients - unsure);
  return { sent: recipients - unsure - certainlyFailed, failed: certainlyFailed, unsure };
}

/** The ends of accepted chunks, as far as they are known. */
export class Ends {
  readonly #known = new Map<number, End>();

  /** Gives how the figures of all change when those of a chunk are these. */
  learn(chunk: number, now: End): End {
    const before = this.#known.get(chunk) ?? noEnd;
    this.#known.set(chunk, now);
    return {
      sent: now.sent - before.sent,
      failed: now.failed - before.failed,
      unsure: now.unsure - before.unsure,
    };
  }
}
