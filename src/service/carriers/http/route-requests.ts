import type { Clock } from '../../clock.js';
import type { Report } from '../../report.js';
import type { RouteRates } from '../../storage/route-limits.js';
import type { Reservation, Submission, SubmitResult } from '../carrier.js';
import { type GatewayClient, gatewayClient } from './gateway-client.js';
import type { GatewayRoute } from './gateway-route.js';
import { GatewayWindow, type Place } from './gateway-window.js';
import { renderRequest } from './rendered-request.js';
import { resultOf } from './results.js';

/** Milliseconds that a stop waits for answers. */
const drainMs = 10_000;

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
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(parts: Parts) {
    const { route, clock } = parts;
    this.window = new GatewayWindow(parts);
    this.#route = route;
    this.#clock = clock;
    this.#client = gatewayClient(route.url.protocol, route.timeoutMs, clock);
  }

  get closed(): SubmitResult {
    const reason = `${this.#route.name} is stopped`;
    return { kind: 'later', reason, code: 'stopped', scope: 'lane' };
  }

  start(): void {
    this.window.open();
  }

  async stop(): Promise<void> {
    this.window.close();
    // What is under way then has no answer.
    const cancel = this.#clock.after(drainMs, () => this.#client.close());
    await Promise.all(this.#underWay);
    cancel();
    this.#client.close();
  }

  async reserve(isSingle: boolean): Promise<Reservation | null> {
    const place = await this.window.wait(isSingle ? 'single' : 'batch');
    return (
      place && {
        submit: (submission, signal) => this.#submit(place, submission, signal),
        release: place.release,
      }
    );
  }

  async #submit(place: Place, submission: Submission, signal: AbortSignal): Promise<SubmitResult> {
    // It may have been stopped since.
    if (!this.window.isOpen || signal.aborted) return this.closed;
    const request = renderRequest(this.#route, submission);
    place.use();
    const exchange = this.#client.exchange(request, signal);
    this.#underWay.add(exchange);
    const exchanged = await exchange.finally(() => this.#underWay.delete(exchange));
    try {
      const result = resultOf(this.#route, submission.reference, exchanged);
      if (exchanged.kind === 'answered') this.window.isDoubtful = false;
      return result;
    } catch (error) {
      this.window.isDoubtful = true;
      throw error;
    }
  }
}
