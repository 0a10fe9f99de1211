import type { CoreDoubles } from './core.js';
import type { App } from './http/app.js';
import { metricsApp } from './http/metrics-app.js';
import { observedApp } from './http/observed-app.js';
import type { ListenAddress } from './service.js';
import type { LaneConnection } from './storage/instances.js';

/** The logs and metrics of a service object; one that has neither pays nothing. */
export interface Observer {
  wrappers: CoreDoubles;
  /** For a listener at the address. */
  observed(app: App, address: ListenAddress, connections: () => LaneConnection[]): App;
  /** Answers metrics and nothing else. Throws TypeError without them. */
  metricsOnly(connections: () => LaneConnection[]): App;
  close(): void;
}

export async function createObserver(hasMetrics: boolean): Promise<Observer> {
  // Loaded late: only a service for others shows metrics.
  const metrics = hasMetrics ? new (await import('./metrics/metrics.js')).Metrics() : null;
  return {
    wrappers: metrics?.wrappers ?? {},
    observed(app, { log, metrics: isShown = false }, connections) {
      const whole = metrics !== null && isShown ? metricsApp(() => metrics.write(connections()), app) : app;
      if (metrics === null && log === undefined) return whole;
      return observedApp(whole, (seen) => {
        metrics?.request(seen);
        log?.(seen);
      });
    },
    metricsOnly(connections) {
      if (metrics === null) throw new TypeError('the service has no metrics');
      return metricsApp(() => metrics.write(connections()), null);
    },
    close: () => metrics?.close(),
  };
}
