import type { Clock } from '../../clock.js';
import type { Report } from '../../report.js';
import type { RouteRates } from '../../storage/route-limits.js';
import {
  type Accepted,
  notConnectedCode,
  type Repeats,
  type Reservation,
  type Submission,
  type SubmitResult,
} from '../carrier.js';
import { type Exchanged, type GatewayClient, gatewayClient } from './gateway-client.js';
import type { GatewayRoute } from './gateway-route.js';
import { GatewayWindow, type Room } from './gateway-window.js';
import { type RenderedRequest, renderRequest } from './rendered-request.js';
import { acceptedOf, resultOf } from './results.js';

/** Milliseconds that stopping waits for answers. */
const drainMs = 10_000;
/** Milliseconds after the start during which it counts as new. */
const newFor = 60_000;

interface Parts {
  route: GatewayRoute;
  clock: Clock;
  limits: RouteRates;
  report: Report;
}

/** The requests of a route. */
export class RouteRequests {
  readonly window: GatewayWindow;
  readonly #route: GatewayRoute;
  readonly #clock: Clock;
  readonly #client: GatewayClient;
  #underWay = 0;
  /** Called once none is under way. */
  readonly #onDrained: (() => void)[] = [];
  /** On the monotonic clock. */
  #startedAt = 0;

  constructor(parts: Parts) {
    const { route, clock } = parts;
    this.window = new GatewayWindow(parts);
    this.#route = route;
    this.#clock = clock;
    this.#client = gatewayClient(route.url, route, clock);
  }

  get closed(): SubmitResult {
    const reason = `${this.#route.name} is stopped`;
    return { kind: 'later', reason, code: notConnectedCode, scope: 'lane' };
  }

  start(): void {
    this.#startedAt = this.#clock.monotonic();
    this.window.open();
  }

  async stop(): Promise<void> {
    this.window.close();
    // Open requests then have no answer.
    const cancel = this.#clock.after(drainMs, () => this.#client.close());
    if (this.#underWay > 0) await new Promise<void>((resolve) => void this.#onDrained.push(resolve));
    cancel();
    this.#client.close();
  }

  async reserve(isSingle: boolean): Promise<Reservation | null> {
    const room = await this.window.wait(isSingle ? 'single' : 'batch');
    if (room === null) return null;
    let kept: Kept | null = null;
    const keep = (submission: Content) => {
      kept = this.#render(submission);
      return JSON.stringify(kept.request);
    };
    return {
      ...(this.#route.repeats !== null && { request: keep }),
      submit: (submission, signal) =>
        this.#submit(room, kept ?? this.#render(submission), submission, signal),
      release: room.release,
    };
  }

  get repeats(): Repeats | null {
    if (this.#route.repeats === null) return null;
    return {
      most: this.window.mostRepeats,
      // The last answer arrives within its timeout.
      withinMs: this.#route.repeats.forMs - this.#route.timeoutMs,
      isNew: this.#clock.monotonic() - this.#startedAt < newFor,
      reserve: async () => {
        const room = await this.window.wait('repeat');
        return room && { repeat: (...given) => this.#repeat(room, ...given), release: room.release };
      },
    };
  }

  async #submit(
    room: Room,
    { request, at }: Kept,
    submission: Content,
    signal: AbortSignal,
  ): Promise<SubmitResult> {
    // It may have stopped, or the machine may have slept: others may have continued, and the gateway may have
    // forgotten the key.
    if (!this.window.isOpen || signal.aborted || this.#isOver(at)) return this.closed;
    const exchanged = await this.#exchange(room, request, signal);
    try {
      const result = resultOf(this.#route, submission, exchanged);
      if (exchanged.kind === 'answered') this.window.isDoubtful = false;
      return result;
    } catch (error) {
      this.window.isDoubtful = true;
      throw error;
    }
  }

  /**
   * Repeats the same bytes, but only to the configured address and with the configured header: anywhere else the key
   * is unknown.
   */
  async #repeat(
    room: Room,
    written: string,
    reference: string,
    signal: AbortSignal,
  ): Promise<Accepted | null> {
    const request = JSON.parse(written) as RenderedRequest;
    const { url, repeats } = this.#route;
    const isKnown =
      repeats !== null &&
      request.headers[repeats.header] === reference &&
      addressOf(request.url) === addressOf(url);
    if (!isKnown || !this.window.isOpen || signal.aborted) return null;
    return acceptedOf(this.#route, reference, await this.#exchange(room, request, signal));
  }

  #render(submission: Content): Kept {
    return { request: renderRequest(this.#route, submission), at: this.#clock.now() };
  }

  #isOver(since: number): boolean {
    return Math.abs(this.#clock.now() - since) > this.#route.timeoutMs;
  }

  async #exchange(room: Room, request: RenderedRequest, signal: AbortSignal): Promise<Exchanged> {
    room.use();
    this.#underWay += 1;
    try {
      return await this.#client.exchange(request, signal);
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) for (const drained of this.#onDrained.splice(0)) drained();
    }
  }
}

type Content = Pick<Submission, 'reference' | 'to' | 'text'>;

/** A request and when it was first sent, on the clock that also runs while the machine sleeps. */
interface Kept {
  request: RenderedRequest;
  at: number;
}

function addressOf(url: string | URL): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
