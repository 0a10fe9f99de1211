import type { Clock } from '../clock.js';
import type { Ended, LaneFigures, LeftEnded } from '../storage/instances.js';

/** Milliseconds. */
const minute = 60_000;
const sliceLength = 5_000;

interface Slice {
  /** On the monotonic clock. */
  at: number;
  lanes: Map<string, LaneFigures>;
}

/** Counts the messages finished in the last minute. */
export class LastMinute {
  readonly #clock: Clock;
  #slices: Slice[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(ended: readonly Ended[]): void {
    const { lanes } = this.#slice();
    for (const one of ended) count(lanes, one);
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
  for (const { lane, sent, unknown, failed, failures } of figures) {
    const sum = figuresOf(lanes, lane);
    sum.sent += sent;
    sum.unknown += unknown;
    sum.failed += failed;
    for (const [code, count] of Object.entries(failures)) fail(sum, code, count);
  }
  return [...lanes.values()];
}

/** Of the last minute, those not yet taken by any instance. */
export function figuresOfLeft(left: readonly LeftEnded[]): LaneFigures[] {
  const lanes = new Map<string, LaneFigures>();
  for (const one of left) if (isRecent(one)) count(lanes, one);
  return [...lanes.values()];
}

export const isRecent = ({ forMs }: LeftEnded): boolean => forMs < minute;

function count(lanes: Map<string, LaneFigures>, { lane, status, isUnknown, code, count }: Ended): void {
  const figures = figuresOf(lanes, lane);
  figures[status] += count;
  if (isUnknown) figures.unknown += count;
  if (code !== null) fail(figures, code, count);
}

function figuresOf(lanes: Map<string, LaneFigures>, lane: string): LaneFigures {
  let figures = lanes.get(lane);
  if (figures === undefined) {
    figures = { lane, sent: 0, unknown: 0, failed: 0, failures: {} };
    lanes.set(lane, figures);
  }
  return figures;
}

function fail({ failures }: LaneFigures, code: string, count: number): void {
  failures[code] = (failures[code] ?? 0) + count;
}
