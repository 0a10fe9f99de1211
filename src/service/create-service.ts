import { systemClock } from './clock.js';
import { openCore } from './core.js';
import { requestFaultFor } from './fault-injection/faults.js';
import { createApp } from './http/app.js';
import { exchangeWith } from './http/in-process.js';
import { createObserver } from './observer.js';
import { readinessOf } from './readiness.js';
import type { Listening, Service, ServiceOptions } from './service.js';

/**
 * Opens the service on a folder of durable data, or in memory. Rejects when the SQLite engine is not
 * installed, the folder cannot be used, or an option breaks a rule.
 */
export async function createService(options: ServiceOptions = {}): Promise<Service> {
  const observer = await createObserver(options.metrics ?? false);
  const core = await openCore(options, observer.wrappers);
  const app = createApp(core.operations, {
    faultFor: core.isReal ? () => null : requestFaultFor,
    isFirst: (name) => core.carrier.isFirst(name),
    readiness: readinessOf({ ...core, clock: options.clock ?? systemClock }),
    report: (error, requestId) => core.report(error, { requestId }),
  });
  const listening = new Set<Listening>();
  const forMetrics: Listening[] = [];
  /** Named by where it listens last. */
  const beat = () => core.heartbeat.begin([...listening].at(-1)?.url.replace(/\/v1$/, '') ?? null);

  return {
    fetch: (input, init) => app.fetch(new Request(input, init)),
    exchange: exchangeWith(app),
    async listen(address = {}) {
      // Loaded late: most embedded services never listen.
      const { listen } = await import('./http/listen.js');
      const opened = await listen(observer.observed(app, address, core), address, {
        report: (error) => core.report(error, { level: 'warning' }),
      });
      const closing: Listening = {
        url: opened.url,
        async close() {
          listening.delete(closing);
          await opened.close();
          await beat();
        },
      };
      listening.add(closing);
      await beat();
      return closing;
    },
    async listenForMetrics(address) {
      const { listen } = await import('./http/listen.js');
      const opened = await listen(observer.metricsOnly(core), address);
      forMetrics.push(opened);
      return opened;
    },
    localKey: core.localKey,
    administration: core.administration,
    channels: core.channels,
    lost: core.lost,
    async close() {
      // What the operator delays is answered now, so that nobody waits for it.
      await core.carrier.stop();
      await Promise.all([...listening, ...forMetrics].map((one) => one.close()));
      observer.close();
      await core.close();
    },
  };
}
