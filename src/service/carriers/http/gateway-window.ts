import type { Clock } from '../../clock.js';
import { type PermitsParts, RoutePermits } from '../rate/permits.js';
import { Throughput } from '../rate/throughput.js';
import type { GatewayRoute } from './gateway-route.js';

/** Room for one request, which may be sent now. */
export interface Room {
  /** Its request is being sent. */
  use(): void;
  release(): void;
}

type Waiting = (room: Room | null) => void;
/** In order of priority: a repeat resolves a message in doubt. */
type Kind = 'repeat' | 'single' | 'batch';
/** The share of the room that repeats may use. */
const shareOfRepeats = 0.25;

/** Limits the open requests of a route, and its rate. */
export class GatewayWindow {
  readonly #route: GatewayRoute;
  readonly #permits: RoutePermits;
  readonly #throughput: Throughput;
  readonly #waiting: Record<Kind, Waiting[]> = { repeat: [], single: [], batch: [] };
  /** Requests with room, and how many of them are repeats. */
  #held = 0;
  #repeats = 0;
  #isOpen = false;
  #isDoubtful = false;

  constructor(parts: Omit<PermitsParts, 'route'> & { route: GatewayRoute; clock: Clock }) {
    this.#route = parts.route;
    this.#permits = new RoutePermits(parts, () => this.#serveWaiting());
    this.#throughput = new Throughput(parts.clock);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Set while the latest answer matched no rule: until one does, messages are tried one at a time. */
  set isDoubtful(isDoubtful: boolean) {
    if (isDoubtful === this.#isDoubtful) return;
    this.#isDoubtful = isDoubtful;
    this.#serveWaiting();
  }

  /** Messages that it accepts, at the current rate. */
  get capacity(): number {
    return this.#isOpen ? this.#permits.capacity : 0;
  }

  /** Messages of batches that it accepts: those that can start within a second, and those that have started. */
  get ahead(): number {
    if (!this.#isOpen) return 0;
    return this.#permits.inASecond(this.#throughput.perSecond) + this.#held;
  }

  /** Repeats that may be open at once. */
  get mostRepeats(): number {
    return Math.max(1, Math.floor(this.#route.concurrent * shareOfRepeats));
  }

  get factor(): number {
    return this.#permits.factor;
  }

  lower(answeredMs: number): Promise<void> {
    return this.#permits.lower(answeredMs);
  }

  open(): void {
    this.#isOpen = true;
  }

  /** Starts nothing new; open requests finish. */
  close(): void {
    this.#isOpen = false;
    this.#permits.stop();
    this.#serveWaiting();
  }

  /** Waits for room; null once it is closed, or if its rate has been lowered meanwhile. */
  wait(which: Kind): Promise<Room | null> {
    if (!this.#isOpen) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#waiting[which].push(resolve);
      this.#serveWaiting();
    });
  }

  /** Assigns room. Called when there may be some, or when there is none any more. */
  #serveWaiting(): void {
    const { repeat, single, batch } = this.#waiting;
    if (!this.#isOpen)
      for (const resolve of [repeat, single, batch].flatMap((all) => all.splice(0))) resolve(null);
    // Messages were claimed before the rate was lowered: others may go first.
    if (this.factor < 1) for (const resolve of batch.splice(this.capacity)) resolve(null);
    const { concurrent } = this.#route;
    // A repeat puts no further message in doubt.
    const size = this.#isDoubtful ? 1 : concurrent;
    while (this.#held < concurrent) {
      const hasRoom = this.#held - this.#repeats < size;
      const repeats = Math.min(repeat.length, this.mostRepeats - this.#repeats);
      const waiting = repeats + (hasRoom ? single.length + batch.length : 0);
      if (waiting === 0 || !this.#permits.take(waiting)) return;
      if (repeats > 0) repeat.shift()?.(this.#take('repeat'));
      else if (single.length > 0) single.shift()?.(this.#take('single'));
      else {
        this.#throughput.begin(batch.length - 1);
        batch.shift()?.(this.#take('batch'));
      }
    }
  }

  #take(kind: Kind): Room {
    const isRepeat = kind === 'repeat' ? 1 : 0;
    this.#held += 1;
    this.#repeats += isRepeat;
    let isHeld = true;
    let isUsed = false;
    return {
      use() {
        isUsed = true;
      },
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#held -= 1;
        this.#repeats -= isRepeat;
        if (!isUsed) this.#permits.giveBack();
        this.#serveWaiting();
      },
    };
  }
}
