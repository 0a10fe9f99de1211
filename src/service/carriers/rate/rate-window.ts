import { type PermitsParts, RoutePermits } from './permits.js';
import { Throughput } from './throughput.js';

export type OnReleased = (wasUsed: boolean) => void;

/** Room for one submission, which may start now. */
export class Room {
  readonly #onReleased: OnReleased;
  #isUsed = false;
  isHeld = true;

  constructor(onReleased: OnReleased) {
    this.#onReleased = onReleased;
  }

  /** Something of it is being sent. */
  use(): void {
    this.#isUsed = true;
  }

  readonly release = (): void => {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.#onReleased(this.#isUsed);
  };
}

interface Waiting<Given> {
  /** The room that it has already. */
  held: Given | null;
  /** Called with null if it gets none now. */
  resolve(room: Given | null): void;
}

type Kind<First> = First | 'single' | 'batch';

/** Assigns room to the submissions of a route, by its rate: those of `First`, then single messages, then those of batches. */
export class RateWindow<First extends string = never, Given extends Room = Room> {
  readonly #permits: RoutePermits;
  readonly #throughput: Throughput;
  readonly #waiting: ReadonlyMap<Kind<First>, Waiting<Given>[]>;
  #isOpen = false;
  /** Messages with room. */
  protected held = 0;

  constructor(parts: PermitsParts, ...first: First[]) {
    this.#permits = new RoutePermits(parts, () => this.serve());
    this.#throughput = new Throughput(parts.clock);
    this.#waiting = new Map([...first, 'single' as const, 'batch' as const].map((kind) => [kind, []]));
  }

  open(): void {
    this.#isOpen = true;
  }

  /** Starts nothing more. */
  close(): void {
    this.#isOpen = false;
    this.#permits.stop();
    this.serve();
  }

  /** Whether submissions of a kind may start, now or later. */
  protected serves(_kind: Kind<First>): boolean {
    return this.#isOpen;
  }

  /** How many of a kind have room now. `held`: what the first of them has already. */
  protected free(_kind: Kind<First>, _held: Given | null): number {
    return Number.POSITIVE_INFINITY;
  }

  protected enter(_kind: Kind<First>, _held: Given | null, onReleased: OnReleased): Given {
    this.held += 1;
    return new Room((wasUsed) => {
      this.held -= 1;
      onReleased(wasUsed);
    }) as Given;
  }

  get isOpen(): boolean {
    return this.serves('single');
  }

  /** Messages that it accepts, at the current rate. */
  get capacity(): number {
    return this.isOpen ? this.#permits.capacity : 0;
  }

  /** Messages of batches that it accepts: those that can start within a second, and those that have started. */
  get ahead(): number {
    return this.isOpen ? this.#permits.inASecond(this.#throughput.perSecond) + this.held : 0;
  }

  get factor(): number {
    return this.#permits.factor;
  }

  lower(answeredMs: number): Promise<void> {
    return this.#permits.lower(answeredMs);
  }

  /** Waits for room; null if it gets none now. */
  wait(kind: Kind<First>): Promise<Given | null> {
    return new Promise((resolve) => void this.add(kind, { held: null, resolve }));
  }

  /** Returns a function that ends the wait. */
  protected add(kind: Kind<First>, one: Waiting<Given>): () => void {
    const waiting = this.#of(kind);
    waiting.push(one);
    this.serve();
    return () => {
      if (waiting.includes(one)) waiting.splice(waiting.indexOf(one), 1);
    };
  }

  /** Assigns room. Called when there may be some, or when there is none any more. */
  serve(): void {
    for (const [kind, waiting] of this.#waiting) if (!this.serves(kind)) dismiss(waiting);
    // Messages were claimed before the rate was lowered: others may go first.
    if (this.factor < 1) dismiss(this.#of('batch'), this.capacity);
    for (;;) {
      const ready = [...this.#waiting].flatMap(([kind, waiting]) => {
        const one = this.#firstOf(kind, waiting);
        const count = one ? Math.min(waiting.length, this.free(kind, one.held)) : 0;
        return one && count > 0 ? [{ kind, waiting, one, count }] : [];
      });
      const [next] = ready;
      const wanted = ready.reduce((sum, { count }) => sum + count, 0);
      if (next === undefined || !this.#permits.take(wanted)) return;
      const { held, resolve } = next.one;
      next.waiting.splice(next.waiting.indexOf(next.one), 1);
      if (next.kind === 'batch') this.#throughput.begin(next.waiting.length);
      resolve(this.enter(next.kind, held, this.#onReleased));
    }
  }

  /** One that has lost its room holds up nobody who still has one: these would never give theirs back. */
  #firstOf(kind: Kind<First>, waiting: readonly Waiting<Given>[]): Waiting<Given> | undefined {
    const [first] = waiting;
    if (!first?.held || this.free(kind, first.held) > 0) return first;
    return waiting.find(({ held }) => this.free(kind, held) > 0);
  }

  readonly #onReleased = (wasUsed: boolean): void => {
    if (!wasUsed) this.#permits.giveBack();
    this.serve();
  };

  #of(kind: Kind<First>): Waiting<Given>[] {
    return this.#waiting.get(kind) ?? [];
  }
}

function dismiss<Given>(waiting: Waiting<Given>[], from = 0): void {
  for (const { resolve } of waiting.splice(from)) resolve(null);
}
