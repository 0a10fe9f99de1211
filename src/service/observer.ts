import type { CoreDoubles } from './core.js';
import type { App } from './http/app.js';
import { metricsApp } from './http/metrics-app.js';
import { observedApp } from './http/observed-app.js';
import type { Sources } from './metrics/metrics.js';
import type { ListenAddress } from './service.js';

/** The logs and metrics of a service object; one that has neither pays nothing. */
export interface Observer {
  wrappers: CoreDoubles;
  /** For a listener at the address. */
  observed(app: App, address: ListenAddress, sources: Sources): App;
  /** Counts a connection that there was no place for. */
  shed(): void;
  /** Answers metrics and nothing else. Throws TypeError without them. */
  metricsOnly(sources: Sources): App;
  close(): void;
}

export async function createObserver(hasMetrics: boolean): Promise<Observer> {
  // Loaded late: only a service for others shows metrics.
  const metrics = hasMetrics ? new (await import('./metrics/metrics.js')).Metrics() : null;
  return {
    wrappers: metrics?.wrappers ?? {},
    observed(app, { log, metrics: isShown = false }, sources) {
      const whole = metrics !== null && isShown ? metricsApp(() => metrics.read(sources), app) : app;
      if (metrics === null && log === undefined) return whole;
      return observedApp(whole, (seen) => {
        metrics?.request(seen);
        log?.(seen);
      });
    },
    shed: () => metrics?.shed(),
    metricsOnly(sources) {
      if (metrics === null) throw new TypeError('the service has no metrics');
      return metricsApp(() => metrics.read(sources), null);
    },
    close: () => metrics?.close(),
  };
}
