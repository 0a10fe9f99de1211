import type { CoreDoubles } from './core.js';
import type { ApiRequest, RequestHandler } from './http/call.js';
import { metricsHandler } from './http/metrics-handler.js';
import { observedHandler } from './http/observed-handler.js';
import type { Metrics, Sources } from './metrics/metrics.js';
import type { ListenAddress } from './service.js';

/** The logs and metrics of a service object; it costs nothing without them. */
export interface Observer {
  wrappers: CoreDoubles;
  /** The handler for a listener at the address, observed. */
  observed(
    handle: RequestHandler,
    address: ListenAddress,
    sources: Sources,
    isOwnHost: (host: string | null) => boolean,
  ): Promise<RequestHandler>;
  /** Counts a connection that was shed. */
  shed(): void;
  /** Counts a request of a gateway that got 404. */
  notFound: Metrics['notFound'];
  /** Counts a part of one that was not read. */
  unread: Metrics['unread'];
  /** A handler that answers only `/metrics`. Throws TypeError without metrics. */
  metricsOnly(sources: Sources): RequestHandler;
  close(): void;
}

export async function createObserver(hasMetrics: boolean): Promise<Observer> {
  // Loaded late: only a service for others has metrics.
  const metrics = hasMetrics ? new (await import('./metrics/metrics.js')).Metrics() : null;
  return {
    wrappers: metrics?.wrappers ?? {},
    async observed(handle, { log, proxies = [], metrics: isShown = false }, sources, isOwnHost) {
      const whole =
        metrics !== null && isShown
          ? metricsHandler(() => metrics.read(sources), { isOwnHost, next: handle })
          : handle;
      if (metrics === null && log === undefined) return whole;
      const addressOf =
        log === undefined ? null : (await import('./http/client-address.js')).clientAddresses(proxies);
      const clientOf = ({ peer, headers }: ApiRequest) =>
        addressOf?.(peer?.(), headers.get('x-forwarded-for')) ?? null;
      return observedHandler(whole, clientOf, (seen) => {
        metrics?.request(seen);
        log?.(seen);
      });
    },
    shed: () => metrics?.shed(),
    notFound: (of) => metrics?.notFound(of),
    unread: (...given) => metrics?.unread(...given),
    metricsOnly(sources) {
      if (metrics === null) throw new TypeError('the service has no metrics');
      return metricsHandler(() => metrics.read(sources), {});
    },
    close: () => metrics?.close(),
  };
}
