import type { Clock } from '../clock.js';
import type { Finalizations } from '../storage/instances.js';
import type { Finalization, Finalized } from '../storage/store.js';

/** Milliseconds. */
const [minute, sliceLength] = [60_000, 5_000];

interface Slice {
  /** On the monotonic clock. */
  at: number;
  lanes: Map<string, { sent: number; failed: number }>;
  failures: Map<string, number>;
}

/** What was finalized in the last minute. */
export class LastMinute {
  readonly #clock: Clock;
  #slices: Slice[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(finalizations: readonly Finalization[], results: readonly (Finalized | null)[]): void {
    const { lanes, failures } = this.#slice();
    finalizations.forEach(({ claimed: { lane }, outcome }, index) => {
      if (results[index] === null) return;
      const count = lanes.get(lane) ?? { sent: 0, failed: 0 };
      lanes.set(lane, count);
      count[outcome.status] += 1;
      if (outcome.status === 'failed') increase(failures, outcome.error.code, 1);
    });
  }

  read(): Finalizations {
    const now = this.#clock.monotonic();
    this.#slices = this.#slices.filter(({ at }) => at > now - minute);
    const lanes = new Map<string, { sent: number; failed: number }>();
    const failures = new Map<string, number>();
    for (const slice of this.#slices) {
      for (const [lane, { sent, failed }] of slice.lanes) {
        const count = lanes.get(lane) ?? { sent: 0, failed: 0 };
        lanes.set(lane, { sent: count.sent + sent, failed: count.failed + failed });
      }
      for (const [code, count] of slice.failures) increase(failures, code, count);
    }
    return {
      lanes: [...lanes].map(([lane, count]) => ({ lane, ...count })),
      failures: Object.fromEntries(failures),
    };
  }

  #slice(): Slice {
    const now = this.#clock.monotonic();
    const last = this.#slices.at(-1);
    if (last !== undefined && last.at > now - sliceLength) return last;
    const slice = { at: now, lanes: new Map(), failures: new Map() };
    this.#slices.push(slice);
    return slice;
  }
}

function increase(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
