import type { Clock } from '../clock.js';
import type { LaneFigures } from '../storage/instances.js';
import type { Finalization, Finalized } from '../storage/store.js';

/** Milliseconds. */
const [minute, sliceLength] = [60_000, 5_000];

interface Slice {
  /** On the monotonic clock. */
  at: number;
  lanes: Map<string, LaneFigures>;
}

/** Counts of the messages that were finalized in the last minute. */
export class LastMinute {
  readonly #clock: Clock;
  #slices: Slice[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(finalizations: readonly Finalization[], results: readonly (Finalized | null)[]): void {
    const { lanes } = this.#slice();
    finalizations.forEach(({ claimed: { lane }, outcome }, index) => {
      if (results[index] === null) return;
      const figures = figuresOf(lanes, lane);
      figures[outcome.status] += 1;
      if (outcome.status === 'failed') fail(figures, outcome.error.code, 1);
    });
  }

  read(): LaneFigures[] {
    const now = this.#clock.monotonic();
    this.#slices = this.#slices.filter(({ at }) => at > now - minute);
    return sumOf(this.#slices.flatMap(({ lanes }) => [...lanes.values()]));
  }

  #slice(): Slice {
    const now = this.#clock.monotonic();
    const last = this.#slices.at(-1);
    if (last !== undefined && last.at > now - sliceLength) return last;
    const slice = { at: now, lanes: new Map() };
    this.#slices.push(slice);
    return slice;
  }
}

/** Figures by lane. */
export function sumOf(figures: readonly LaneFigures[]): LaneFigures[] {
  const lanes = new Map<string, LaneFigures>();
  for (const { lane, sent, failed, failures } of figures) {
    const sum = figuresOf(lanes, lane);
    sum.sent += sent;
    sum.failed += failed;
    for (const [code, count] of Object.entries(failures)) fail(sum, code, count);
  }
  return [...lanes.values()];
}

function figuresOf(lanes: Map<string, LaneFigures>, lane: string): LaneFigures {
  let figures = lanes.get(lane);
  if (figures === undefined) {
    figures = { lane, sent: 0, failed: 0, failures: {} };
    lanes.set(lane, figures);
  }
  return figures;
}

function fail({ failures }: LaneFigures, code: string, count: number): void {
  failures[code] = (failures[code] ?? 0) + count;
}
