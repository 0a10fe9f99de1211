import { maxRequestBytes } from '../contract/index.js';
import { type Core, openCore } from './core.js';
import { type DashboardDoor, type DashboardParts, dashboardDoor } from './dashboard/door.js';
import { type Origin, originOf } from './dashboard/origin.js';
import { requestFaultFor } from './fault-injection/faults.js';
import { createApp } from './http/app.js';
import { readBody } from './http/body/read-body.js';
import type { RequestHandler } from './http/call.js';
import { withCarrierRequests } from './http/carrier-requests.js';
import { inProcess } from './http/in-process.js';
import { createObserver } from './observer.js';
import { takeToken } from './operations/admission.js';
import { readinessOf } from './readiness.js';
import type { Listening, ServedListening, Service, ServiceOptions } from './service.js';

/**
 * Opens the service on a folder of durable data, or in memory. Rejects if the SQLite engine is not installed, the
 * folder cannot be used, or an option is invalid.
 */
export async function createService(options: ServiceOptions = {}): Promise<Service> {
  const observer = await createObserver(options.metrics ?? false);
  const core = await openCore(options, observer.wrappers);
  let isStopping = false;
  const app = createApp(core.operations, {
    faultFor: core.isReal ? () => null : requestFaultFor,
    isFirst: (name) => core.carrier.outbox.isFirst(name),
    outbox: core.outbox,
    readiness: readinessOf({ ...core, clock: core.context.clock, isStopping: () => isStopping }),
    report: (error, requestId) => core.report(error, { requestId }),
  });
  const inside = inProcess(app);
  const { take } = core;
  const api =
    take === null
      ? app.answer
      : withCarrierRequests(app.answer, {
          take,
          count: observer.notFound,
          countUnread: observer.unread,
          report: (warning) => core.report(warning, { level: 'warning' }),
          now: () => core.context.clock.monotonic(),
        });
  const listening = new Set<ServedListening>();
  const forMetrics: Listening[] = [];
  /** Shown with the address on which it started to listen last. */
  const beat = () => core.heartbeat.begin([...listening].at(-1)?.url.replace(/\/v1$/, '') ?? null);

  return {
    fetch: (input, init) => inside.fetch(new Request(input, init)),
    exchange: inside.exchange,
    async listen({ dashboard, ...address } = {}) {
      // Loaded late: most embedded services never listen. One that does may outlive its files, so it loads the
      // schemas of lists now.
      const [{ listen }] = await Promise.all([import('./http/listen.js'), import('./http/schemas/lists.js')]);
      const door = dashboard === undefined ? null : dashboardDoor(partsOf(core), dashboard.publicUrl);
      const served = withUnsubscribing(door === null ? api : withDashboard(api, door), core);
      let own: Origin | null = null;
      const isOwnHost = (host: string | null) => own?.hasHost(host) ?? false;
      const observed = await observer.observed(served, address, core, isOwnHost);
      const opened = await listen(observed, address, {
        report: (error) => core.report(error, { level: 'warning' }),
        shed: observer.shed,
      });
      own = originOf(null, opened.url);
      const closing: ServedListening = {
        url: opened.url,
        renew: opened.renew,
        dashboard: door === null ? null : await door.at(opened.url),
        async close() {
          listening.delete(closing);
          // Otherwise its live pages would never end.
          await door?.close();
          await opened.close();
          await beat();
        },
      };
      listening.add(closing);
      await beat();
      core.retention.begin();
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
    drain() {
      isStopping = true;
      core.endWaits();
      core.drain();
    },
    async close() {
      core.endWaits();
      // Answers everything that the operator delays, so that no caller waits for it.
      await core.carrier.stop();
      await Promise.all([...listening, ...forMetrics].map((one) => one.close()));
      observer.close();
      await core.close();
    },
  };
}

function partsOf({
  context,
  store,
  operations,
  administration,
  channels,
  carrier,
  heartbeat,
  report,
}: Core): DashboardParts {
  return {
    store,
    operations,
    administration,
    channels,
    clock: context.clock,
    encryption: context.encryption,
    connections: () => heartbeat.connections,
    takeToken: (projectId, kind, key) => takeToken(context, projectId, kind, key),
    deliveries: (messageIds) => carrier.outbox.find(messageIds),
    report: (error, requestId) => report(error, { requestId }),
  };
}

/** Of the form of RFC 8058, in whatever form. */
const oneClickBytes = 4_096;

/** The page where recipients of bulk emails unsubscribe, with or without the dashboard. */
function withUnsubscribing(next: RequestHandler, { context, tokens, report }: Core): RequestHandler {
  return async (request, notes) => {
    if (!request.target.startsWith('/u/')) return next(request, notes);
    // Without the token.
    if (notes) notes.route = '/u';
    try {
      // Loaded late: few services have links to it.
      const { answerUnsubscribing } = await import('./dashboard/unsubscribe.js');
      const parts = {
        ...context,
        tokens,
        report: (error: unknown, requestId: string) => report(error, { requestId }),
      };
      return await answerUnsubscribing(parts)(request, () => readBody(request, oneClickBytes));
    } catch (error) {
      report(error);
      return new Response(null, { status: 503, headers: { 'Retry-After': '10' } });
    }
  };
}

/** Of a form of the dashboard: about 500 holidays. Every connection of a stranger may hold one. */
const formBytes = 65_536;

/** The dashboard beside the API, on one port. */
function withDashboard(next: RequestHandler, door: DashboardDoor): RequestHandler {
  return async (request, notes) => {
    if (!door.isUnder(request.target)) return next(request, notes);
    if (notes) notes.route = '/dashboard';
    return door.fetch(request, (isLong) => readBody(request, isLong ? maxRequestBytes : formBytes));
  };
}
