import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import type { Operations } from '../operations/operations.js';
import type { Readiness } from '../readiness.js';
import { BatchTurns } from './body/batch-turns.js';
import type { HttpEnv } from './context.js';
import { type FaultFor, faultInjector, type IsFirst } from './inject-fault.js';
import { admit } from './middleware/admit.js';
import { answerError, type Report } from './middleware/answer-error.js';
import { openRequest } from './middleware/open-request.js';
import { readJson } from './middleware/read-json.js';
import { unknownRoute, wrongMethod } from './middleware/refuse-route.js';
import { replayAnswer } from './middleware/replay-answer.js';
import { accountRoutes } from './routes/account.js';
import { batchRoutes } from './routes/batches.js';
import { emailRoutes } from './routes/email.js';
import { healthRoutes } from './routes/health.js';
import { messageRoutes } from './routes/messages.js';
import { openApi } from './routes/openapi.js';
import { smsRoutes } from './routes/sms.js';
import { verifyRoutes } from './routes/verify.js';

export interface AppOptions {
  /** Called for every unexpected error; the caller gets 503 `unavailable`. */
  report?: Report;
  /** Injects faults for some recipients; none when absent. */
  faultFor?: FaultFor;
  /** Lets a fault happen once for an idempotency key; every time when absent. */
  isFirst?: IsFirst;
  /** Always ready when absent. */
  readiness?: () => Promise<Readiness>;
  /** Makes request ids; UUIDs when absent. */
  newRequestId?: () => string;
}

export interface App {
  /** Answers every request; rejects only when an injected fault drops the connection. */
  fetch(request: Request, bindings?: HttpEnv['Bindings']): Promise<Response>;
  /** The route table: `POST /v1/verify/:id/check`. */
  readonly routes: readonly string[];
}

/**
 * The HTTP side of the service. A request is checked in this order: key, rate, route, body size and syntax,
 * idempotency key, field rules; the operations go on with number support, caps and funds.
 */
export function createApp(operations: Operations, options: AppOptions = {}): App {
  const app = new Hono<HttpEnv>({ getPath: rawPath });
  const injectFault = faultInjector(options.faultFor, options.isFirst ?? (async () => true));
  const sms = smsRoutes(operations, injectFault);
  const email = emailRoutes(operations, injectFault);
  const verify = verifyRoutes(operations, injectFault);
  const messages = messageRoutes(operations);
  const batches = batchRoutes(operations);
  const account = accountRoutes(operations);
  const json = readJson();
  const batchJson = readJson(new BatchTurns());
  const health = healthRoutes(options.readiness ?? alwaysReady);

  app.onError(answerError(options.report ?? (() => {})));
  app.use('*', openRequest(options.newRequestId ?? randomUUID));
  // Public: these need no key.
  app.get('/healthz', health.live);
  app.get('/readyz', health.ready);
  app.get('/v1/openapi.json', openApi()).all(wrongMethod(['GET']));
  app.use('/v1/*', admit(operations));

  app.post('/v1/sms', json, replayAnswer, sms.send);
  app.post('/v1/sms/bulk', batchJson, replayAnswer, sms.sendBulk);
  app.post('/v1/email', json, replayAnswer, email.send);
  app.post('/v1/email/bulk', batchJson, replayAnswer, email.sendBulk);

  app.post('/v1/verify', json, verify.create);
  app.post('/v1/verify/:id/check', json, verify.check);
  app.get('/v1/verify/:id', verify.get);

  app.get('/v1/messages', messages.list);
  app.get('/v1/messages/:id', messages.get);
  app.get('/v1/batches', batches.list);
  app.get('/v1/batches/:id', batches.get);
  app.get('/v1/batches/:id/messages', batches.listMessages);
  app.get('/v1/balance', account.balance);
  app.get('/v1/pricing', account.pricing);

  const paths = methodsByPath(app);
  for (const [path, methods] of paths) app.all(path, wrongMethod(methods));
  app.notFound(unknownRoute);

  return {
    fetch: async (request, bindings = {}) => app.fetch(request, bindings),
    routes: [...paths].flatMap(([path, methods]) => methods.map((method) => `${method} ${path}`)),
  };
}

const alwaysReady = async (): Promise<Readiness> => ({ status: 'ready', error: null, carriers: [] });

/** The path as sent, byte for byte: another spelling of a route is no route. A Request has resolved its dots already. */
function rawPath({ url }: Request, { env }: { env?: HttpEnv['Bindings'] } = {}): string {
  const target = env?.plain?.target ?? url;
  const start = target.startsWith('/') ? 0 : target.indexOf('/', target.indexOf('://') + 3);
  const path = start === -1 ? '/' : target.slice(start);
  const end = path.search(/[?#]/);
  return end === -1 ? path : path.slice(0, end);
}

function methodsByPath(app: Hono<HttpEnv>): Map<string, string[]> {
  const paths = new Map<string, string[]>();
  for (const { method, path } of app.routes) {
    const methods = paths.get(path) ?? [];
    if (method !== 'ALL' && !methods.includes(method)) paths.set(path, [...methods, method]);
  }
  return paths;
}
