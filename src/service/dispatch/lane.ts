import type { Carrier } from '../carriers/carrier.js';
import type { Clock } from '../clock.js';
import type { MessageClass } from '../storage/store.js';

/** Milliseconds that a lane submits nothing after its carrier said so, doubled each time. */
const [firstPause, longestPause] = [1_000, 60_000];
/** Room for single messages alone: a tenth of the capacity, at most so many. */
const mostKept = 100;

/** A queue of a carrier, as far as this process submits from it. */
export class Lane {
  readonly name: string;
  readonly carrier: Carrier;
  /** By the owner of the service. */
  isPaused = false;
  readonly #clock: Clock;
  /** Messages that are being accepted, submitted or written. */
  #taken = 0;
  /** On the monotonic clock; null while it was never paused. */
  #pausedUntil: number | null = null;
  #pause = firstPause;

  constructor(name: string, carrier: Carrier, clock: Clock) {
    this.name = name;
    this.carrier = carrier;
    this.#clock = clock;
  }

  take(messages: number): void {
    this.#taken += messages;
  }

  release(messages: number): void {
    this.#taken -= messages;
  }

  /** Messages of a class that it can take now. */
  room(of: MessageClass): number {
    if (!this.isOpen) return 0;
    const capacity = this.carrier.capacity(this.name);
    const kept = of === 'single' ? 0 : Math.min(mostKept, Math.floor(capacity / 10));
    return Math.max(0, capacity - kept - this.#taken);
  }

  get isOpen(): boolean {
    return !this.isPaused && !this.#rests && this.carrier.capacity(this.name) > 0;
  }

  /** Its carrier has had no connection for a while. */
  get isDown(): boolean {
    return this.carrier.isDown?.(this.name) ?? false;
  }

  /** A batch asks a thousand times: the clock is read only where it matters. */
  get #rests(): boolean {
    return this.#pausedUntil !== null && this.#pausedUntil > this.#clock.monotonic();
  }

  /** Its carrier takes nothing now. Submissions that were under way together count as one. */
  pause(retryAfterMs = 0): void {
    if (this.#rests) return;
    this.#pausedUntil = this.#clock.monotonic() + Math.max(this.#pause, retryAfterMs);
    this.#pause = Math.min(this.#pause * 2, longestPause);
  }

  /** Its carrier takes messages. */
  resume(): void {
    this.#pause = firstPause;
  }
}

/** Pauses these lanes and no other; whether any has changed. */
export function setPaused(lanes: Iterable<Lane>, paused: readonly string[]): boolean {
  let hasChanged = false;
  for (const lane of lanes) {
    const isPaused = paused.includes(lane.name);
    if (isPaused !== lane.isPaused) hasChanged = true;
    lane.isPaused = isPaused;
  }
  return hasChanged;
}
