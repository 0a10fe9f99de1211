import type { PermitsParts } from '../rate/permits.js';
import { type OnReleased, RateWindow, type Room } from '../rate/rate-window.js';
import type { GatewayRoute } from './gateway-route.js';

export type { Room };

/** The share of the room that repeats may use. */
const shareOfRepeats = 0.25;

/** Limits the open requests of a route, and its rate. A repeat goes first: it resolves a message in doubt. */
export class GatewayWindow extends RateWindow<'repeat'> {
  readonly #route: GatewayRoute;
  /** Repeats with room. */
  #repeats = 0;
  #isDoubtful = false;

  constructor(parts: Omit<PermitsParts, 'route'> & { route: GatewayRoute }) {
    super(parts, 'repeat');
    this.#route = parts.route;
  }

  /** Set while the latest answer matched no rule: until one does, messages are tried one at a time. */
  set isDoubtful(isDoubtful: boolean) {
    if (isDoubtful === this.#isDoubtful) return;
    this.#isDoubtful = isDoubtful;
    this.serve();
  }

  /** Repeats that may be open at once. */
  get mostRepeats(): number {
    return Math.max(1, Math.floor(this.#route.concurrent * shareOfRepeats));
  }

  protected override free(kind: 'repeat' | 'single' | 'batch'): number {
    const { concurrent } = this.#route;
    if (this.held >= concurrent) return 0;
    if (kind === 'repeat') return this.mostRepeats - this.#repeats;
    // A repeat puts no further message in doubt.
    const size = this.#isDoubtful ? 1 : concurrent;
    return this.held - this.#repeats < size ? Number.POSITIVE_INFINITY : 0;
  }

  protected override enter(
    kind: 'repeat' | 'single' | 'batch',
    held: Room | null,
    onReleased: OnReleased,
  ): Room {
    const isRepeat = kind === 'repeat' ? 1 : 0;
    this.#repeats += isRepeat;
    return super.enter(kind, held, (wasUsed) => {
      this.#repeats -= isRepeat;
      onReleased(wasUsed);
    });
  }
}
