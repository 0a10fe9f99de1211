import type { Clock } from '../../../clock.js';
import type { Report } from '../../../report.js';
import { RoutePermits } from '../../rate/permits.js';
import { Throughput } from '../../rate/throughput.js';
import type { RouteLimits } from '../limits.js';
import type { SmppRoute } from '../route-settings.js';
import type { Link } from './link.js';
import type { Session } from './session.js';

/** A place in the window of a session, for one submission, with the right to send a segment now. */
export class Room {
  readonly session: Session;
  readonly #link: Link;
  readonly #onReleased: (wasUsed: boolean) => void;
  #isHeld = true;
  #isUsed = false;

  constructor(link: Link, session: Session, onReleased: (wasUsed: boolean) => void) {
    this.#link = link;
    this.session = session;
    this.#onReleased = onReleased;
  }

  /** Whether it is held in a session that accepts requests. */
  get isUsable(): boolean {
    return this.#isHeld && this.#link.isUsable(this.session);
  }

  use(): void {
    this.#isUsed = true;
  }

  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    if (this.#link.session === this.session) this.#link.inFlight -= 1;
    this.#onReleased(this.#isUsed);
  }
}

interface Waiting {
  /** Its place in a window; null without one. */
  held: Room | null;
  /** Called with null if nothing can be sent any more. */
  resolve(room: Room | null): void;
}

/** Submissions wait for room: first segments of messages that were started, then single messages, then the rest. */
const classes = ['begun', 'single', 'batch'] as const;
type WaitingClass = (typeof classes)[number];

/** The windows and the rate of a route. */
export class RouteWindow {
  readonly #route: SmppRoute;
  readonly #links: readonly Link[];
  readonly #clock: Clock;
  readonly #permits: RoutePermits;
  readonly #throughput: Throughput;
  readonly #waiting: Record<WaitingClass, Waiting[]> = { begun: [], single: [], batch: [] };
  /** Messages with a reservation, answered or not. */
  #messages = 0;
  #isOpen = false;
  #isAbandoned = false;

  /** `links`: the connections that submit. */
  constructor(
    links: readonly Link[],
    parts: { route: SmppRoute; limits: RouteLimits; clock: Clock; report: Report },
  ) {
    this.#route = parts.route;
    this.#links = links;
    this.#clock = parts.clock;
    this.#permits = new RoutePermits(parts, () => this.serveWaiting());
    this.#throughput = new Throughput(parts.clock);
  }

  get isUp(): boolean {
    return this.#isOpen && this.#links.some(({ isOpen }) => isOpen);
  }

  /** Messages that it accepts, at the current rate. */
  get capacity(): number {
    return this.isUp ? this.#permits.capacity : 0;
  }

  /** Messages of batches that it accepts: those that can start within a second, and those that have started. */
  get ahead(): number {
    if (!this.isUp) return 0;
    return this.#permits.inASecond(this.#throughput.perSecond) + this.#messages;
  }

  get factor(): number {
    return this.#permits.factor;
  }

  lower(answeredMs: number): Promise<void> {
    return this.#permits.lower(answeredMs);
  }

  open(): void {
    this.#isOpen = true;
    this.#isAbandoned = false;
  }

  /** Starts nothing new; what was started finishes. */
  close(): void {
    this.#isOpen = false;
    this.serveWaiting();
  }

  /** A message was written, or will not be submitted. */
  leave(): void {
    this.#messages -= 1;
    this.serveWaiting();
  }

  /** Waits for room, until `leave`; null while the route is down. */
  wait(which: 'single' | 'batch'): Promise<Room | null> {
    if (!this.isUp) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#waiting[which].push({ held: null, resolve });
      this.serveWaiting();
    });
  }

  /**
   * Waits until another segment of a message may be sent, in the room it holds, or in another one if that is lost.
   * Null after `milliseconds`, or once the route is closed.
   */
  waitAgain(held: Room | null, milliseconds: number): Promise<Room | null> {
    return new Promise((resolve) => {
      const waiting: Waiting = {
        held,
        resolve(room) {
          cancel();
          if (room !== held) held?.release();
          resolve(room);
        },
      };
      const cancel = this.#clock.after(milliseconds, () => {
        this.#waiting.begun = this.#waiting.begun.filter((other) => other !== waiting);
        waiting.resolve(null);
      });
      if (this.#isAbandoned) waiting.resolve(null);
      else {
        this.#waiting.begun.push(waiting);
        this.serveWaiting();
      }
    });
  }

  /** Ends the waits of messages that were started. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#permits.stop();
    for (const { resolve } of this.#waiting.begun.splice(0)) resolve(null);
  }

  /** Assigns room. Called when there may be some, or when there is none any more. */
  serveWaiting(): void {
    if (!this.isUp) {
      for (const which of ['single', 'batch'] as const)
        for (const { resolve } of this.#waiting[which].splice(0)) resolve(null);
    }
    this.#returnExcess();
    for (;;) {
      const which = classes.find((each) => this.#waiting[each].length > 0);
      const next = which === undefined ? undefined : this.#waiting[which][0];
      if (which === undefined || next === undefined) return;
      const held = next.held?.isUsable ? next.held : null;
      const link = held === null ? this.#freeLink() : null;
      if (link === undefined || (which !== 'begun' && this.#messages >= this.#size)) return;
      if (!this.#permits.take(this.#wanted)) return;
      this.#waiting[which].shift();
      if (which !== 'begun') this.#messages += 1;
      if (which === 'batch') this.#throughput.begin(this.#waiting.batch.length);
      next.resolve(link === null ? held : this.#roomOn(link));
    }
  }

  /** Messages were claimed before the rate was lowered: others may go first. */
  #returnExcess(): void {
    if (this.#permits.factor === 1) return;
    const beyond = this.#waiting.batch.splice(this.capacity);
    for (const { resolve } of beyond) resolve(null);
  }

  #roomOn(link: Link): Room {
    link.inFlight += 1;
    return new Room(link, link.session as Session, (wasUsed) => {
      if (!wasUsed) this.#permits.giveBack();
      this.serveWaiting();
    });
  }

  get #wanted(): number {
    return classes.reduce((sum, which) => sum + this.#waiting[which].length, 0);
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
