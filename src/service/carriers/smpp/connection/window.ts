import type { Clock } from '../../../clock.js';
import type { Report } from '../../../report.js';
import { type OnReleased, RateWindow, Room } from '../../rate/rate-window.js';
import type { RouteLimits } from '../limits.js';
import type { SmppRoute } from '../route-settings.js';
import type { Link } from './link.js';
import type { Session } from './session.js';

/** A place in the window of a session, for one submission, with the right to send a segment now. */
export class LinkRoom extends Room {
  readonly session: Session;
  readonly #link: Link;

  constructor(link: Link, onReleased: OnReleased) {
    const session = link.session as Session;
    super((wasUsed) => {
      if (link.session === session) link.inFlight -= 1;
      onReleased(wasUsed);
    });
    link.inFlight += 1;
    this.#link = link;
    this.session = session;
  }

  /** Whether it is held in a session that accepts requests. */
  get isUsable(): boolean {
    return this.isHeld && this.#link.isUsable(this.session);
  }
}

/** `begun`: further segments of messages that were started. */
type Kind = 'begun' | 'single' | 'batch';

/** The windows and the rate of a route. */
export class RouteWindow extends RateWindow<'begun', LinkRoom> {
  readonly #route: SmppRoute;
  readonly #links: readonly Link[];
  readonly #clock: Clock;
  #isDraining = false;

  /** `links`: the connections that submit. */
  constructor(
    links: readonly Link[],
    parts: { route: SmppRoute; limits: RouteLimits; clock: Clock; report: Report },
  ) {
    super(parts, 'begun');
    this.#route = parts.route;
    this.#links = links;
    this.#clock = parts.clock;
  }

  override open(): void {
    super.open();
    this.#isDraining = false;
  }

  /** Starts nothing new; what was started finishes, until it is closed. */
  drain(): void {
    this.#isDraining = true;
    this.serve();
  }

  /** A message was written, or will not be submitted. */
  leave(): void {
    this.held -= 1;
    this.serve();
  }

  /**
   * Waits until another segment of a message may be sent, in the room it holds, or in another one if that is lost.
   * Null after `milliseconds`, or once the route is closed.
   */
  waitAgain(held: LinkRoom | null, milliseconds: number): Promise<LinkRoom | null> {
    return new Promise((resolve) => {
      const end = (room: LinkRoom | null) => {
        cancel();
        if (room !== held) held?.release();
        resolve(room);
      };
      const cancel = this.#clock.after(milliseconds, () => {
        leave();
        end(null);
      });
      const leave = this.add('begun', { held, resolve: end });
    });
  }

  protected override serves(kind: Kind): boolean {
    const isUp = kind === 'begun' || (!this.#isDraining && this.#links.some(({ isOpen }) => isOpen));
    return isUp && super.serves(kind);
  }

  protected override free(kind: Kind, held: LinkRoom | null): number {
    const isFull = kind !== 'begun' && this.held >= this.#size;
    return !isFull && (held?.isUsable || this.#freeLink()) ? Number.POSITIVE_INFINITY : 0;
  }

  /** Another segment is of a message that has entered. */
  protected override enter(kind: Kind, held: LinkRoom | null, onReleased: OnReleased): LinkRoom {
    if (kind !== 'begun') this.held += 1;
    return held?.isUsable ? held : new LinkRoom(this.#freeLink() as Link, onReleased);
  }

  /** Messages that may be submitted at the same time. */
  get #size(): number {
    return this.#links.filter(({ isOpen }) => isOpen).length * this.#route.window;
  }

  #freeLink(): Link | undefined {
    let free: Link | undefined;
    for (const link of this.#links) {
      if (!link.isOpen || link.inFlight >= this.#route.window) continue;
      if (free === undefined || link.inFlight < free.inFlight) free = link;
    }
    return free;
  }
}
