import type { Clock } from '../../clock.js';
import type { Report } from '../../report.js';
import { blockMs, factorAt, type Lowered, type RouteRates } from '../../storage/route-limits.js';

/** A route accepts the messages of so many seconds at its rate. */
const capacitySeconds = 5;
/** The maximum of that. */
const mostMessages = 2_000;
/** Milliseconds until permits are asked for again after their store failed. */
const retryMs = 1_000;
/** Milliseconds of permits that may be used together after a late timer. */
const togetherMs = 5;
/** The resolution of timers; closer permits are used together. */
const timerMs = 1;

/** Evenly spaced permits, from a time on the monotonic clock. */
interface Block {
  at: number;
  count: number;
  /** Milliseconds between them. */
  each: number;
}

export interface PermitsParts {
  route: { name: string; perSecond: number };
  limits: RouteRates;
  clock: Clock;
  report: Report;
}

/** The permits to send segments or requests over a route. One that is not used within a block expires. */
export class RoutePermits {
  readonly #parts: PermitsParts;
  readonly #onPermit: () => void;
  /** As the store has it; null at the whole rate. */
  #lowered: Lowered | null = null;
  /** In their order. */
  #blocks: Block[] = [];
  /** No permit is earlier. */
  #earliest = 0;
  #isTaking = false;
  #cancelTaking: () => void = () => {};
  #cancelWait: (() => void) | null = null;

  /** `onPermit` is called when there may be a permit. */
  constructor(parts: PermitsParts, onPermit: () => void) {
    this.#parts = parts;
    this.#onPermit = onPermit;
  }

  /** Takes a permit for one of the `waiting`; false if there is none yet. */
  take(waiting: number): boolean {
    const now = this.#parts.clock.monotonic();
    this.#dropExpired(now);
    const [block] = this.#blocks;
    // The next block is asked for while there is still half of this one.
    if (waiting > this.#left && this.#left * this.#each <= blockMs / 2) this.#ask(waiting - this.#left);
    if (block === undefined) return false;
    const { each } = block;
    const at = Math.max(block.at, this.#earliest);
    if (at > now + (each < timerMs ? timerMs : 0)) {
      this.#cancelWait ??= this.#parts.clock.after(at - now, () => {
        this.#cancelWait = null;
        this.#onPermit();
      });
      return false;
    }
    this.#earliest = Math.max(at, now - togetherMs) + each;
    block.at += each;
    block.count -= 1;
    return true;
  }

  /** Returns a permit that was not used. */
  giveBack(): void {
    this.#blocks.unshift({ at: this.#parts.clock.monotonic(), count: 1, each: this.#each });
  }

  /** The share of the rate in use while its operator throttles, else 1. */
  get factor(): number {
    return this.#lowered === null ? 1 : factorAt(this.#lowered, this.#parts.clock.monotonic());
  }

  /** Messages a second, at the current rate. */
  get perSecond(): number {
    return this.#parts.route.perSecond * this.factor;
  }

  /** Messages that its route accepts, at the current rate. */
  get capacity(): number {
    return Math.min(Math.ceil(this.perSecond * capacitySeconds), mostMessages);
  }

  /** Messages that can start within a second: as many as were measured, else at the current rate. */
  inASecond(measured: number | null): number {
    return Math.min(Math.ceil(measured ?? this.perSecond), mostMessages);
  }

  /** Halves the rate, in all instances. */
  async lower(answeredMs: number): Promise<void> {
    const { route, limits } = this.#parts;
    this.#learn(await limits.lowerRate(route.name, route.perSecond, answeredMs));
    this.#onPermit();
  }

  stop(): void {
    this.#cancelTaking();
    this.#cancelWait?.();
    this.#cancelWait = null;
    this.#isTaking = false;
    this.#blocks = [];
  }

  #learn(factor: number): void {
    this.#lowered = factor < 1 ? { factor, at: this.#parts.clock.monotonic() } : null;
  }

  get #each(): number {
    return 1_000 / this.perSecond;
  }

  get #left(): number {
    return this.#blocks.reduce((sum, { count }) => sum + count, 0);
  }

  /** Drops permits that expired more than a block ago. */
  #dropExpired(now: number): void {
    for (const block of this.#blocks) {
      const expired = Math.ceil((now - blockMs - block.at) / block.each);
      if (expired <= 0) continue;
      block.count -= expired;
      block.at += expired * block.each;
    }
    if (this.#blocks.some(({ count }) => count <= 0))
      this.#blocks = this.#blocks.filter(({ count }) => count > 0);
  }

  #ask(wanted: number): void {
    if (this.#isTaking) return;
    this.#isTaking = true;
    const { route, limits, clock, report } = this.#parts;
    void limits
      .takePermits(route.name, route.perSecond, wanted)
      .catch((error) => {
        report(error, { level: 'warning' });
        return { granted: 0, waitMs: retryMs, factor: this.factor };
      })
      .then(({ granted, waitMs, factor }) => {
        this.#learn(factor);
        if (granted > 0) {
          this.#isTaking = false;
          this.#blocks.push({ at: clock.monotonic() + waitMs, count: granted, each: this.#each });
          this.#onPermit();
          return;
        }
        this.#cancelTaking = clock.after(waitMs, () => {
          this.#isTaking = false;
          this.#onPermit();
        });
      });
  }
}
