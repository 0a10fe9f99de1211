import { randomUUID } from 'node:crypto';
import { ServiceError } from '../errors/service-error.js';
import type { Operations } from '../operations/operations.js';
import type { Readiness } from '../readiness.js';
import { admit } from './admit.js';
import { commonHeaders, errorAnswer, fullRateLimit, jsonAnswer, kindOf } from './answer.js';
import type { AdmittedCall, ApiRequest, Call, RequestNotes, WrittenAnswer } from './call.js';
import { ConnectionDropped, type FaultFor, faultInjector, type IsFirst } from './inject-fault.js';
import { pathOf } from './request-head.js';
import { noSuchRoute, RouteTable } from './route-table.js';
import { accountRoutes } from './routes/account.js';
import { batchRoutes } from './routes/batches.js';
import { emailRoutes } from './routes/email.js';
import { eventRoutes } from './routes/events.js';
import { healthRoutes } from './routes/health.js';
import { inboxRoutes } from './routes/inbox.js';
import { messageRoutes } from './routes/messages.js';
import { openApi } from './routes/openapi.js';
import { type Outbox, outboxRoutes } from './routes/outbox.js';
import { smsRoutes } from './routes/sms.js';
import { verifyRoutes } from './routes/verify.js';

export interface AppOptions {
  /** Called for every unexpected error. Callers do not see its text: they get 503 `unavailable`. */
  report?: (error: unknown, requestId: string) => void;
  /** Injects faults for some recipients; none when absent. */
  faultFor?: FaultFor;
  /** Lets a fault happen only once for an idempotency key; every time when absent. */
  isFirst?: IsFirst;
  /** Not offered when absent. */
  outbox?: Outbox;
  /** Always ready when absent. */
  readiness?: () => Promise<Readiness>;
  /** Makes request ids; UUIDs when absent. */
  newRequestId?: () => string;
}

export interface App {
  /** Answers every request; rejects only if an injected fault drops the connection. */
  answer(request: ApiRequest, notes?: RequestNotes): Promise<WrittenAnswer>;
  /** The route table: `POST /v1/verify/:id/check`. */
  readonly routes: readonly string[];
}

/**
 * The HTTP side of the service. A request is checked in this order: key, rate, route, body size and syntax,
 * idempotency key, field rules; the operations then check number support, suppressions, caps and funds.
 */
export function createApp(operations: Operations, options: AppOptions = {}): App {
  const { report = () => {}, newRequestId = randomUUID } = options;
  const injectFault = faultInjector(options.faultFor, options.isFirst ?? (async () => true));
  const sms = smsRoutes(operations, injectFault);
  const email = emailRoutes(operations, injectFault);
  const verify = verifyRoutes(operations, injectFault);
  const messages = messageRoutes(operations);
  const batches = batchRoutes(operations);
  const account = accountRoutes(operations);
  const inbox = inboxRoutes(operations);
  const events = eventRoutes(operations);
  const outbox = outboxRoutes(options.outbox);
  const health = healthRoutes(options.readiness ?? alwaysReady);

  const publicRoutes = {
    'GET /healthz': health.live,
    'GET /readyz': health.ready,
    'GET /v1/openapi.json': openApi(),
  };
  const keyedRoutes = {
    'POST /v1/sms': sms.send,
    'POST /v1/sms/bulk': sms.sendBulk,
    'POST /v1/email': email.send,
    'POST /v1/email/bulk': email.sendBulk,

    'POST /v1/verify': verify.create,
    'POST /v1/verify/:id/check': verify.check,
    'GET /v1/verify/:id': verify.get,

    'GET /v1/messages': messages.list,
    'GET /v1/messages/:id': messages.get,
    'GET /v1/batches': batches.list,
    'GET /v1/batches/:id': batches.get,
    'GET /v1/batches/:id/messages': batches.listMessages,
    'GET /v1/balance': account.balance,
    'GET /v1/pricing': account.pricing,
    'POST /v1/suppressions/check': account.checkSuppressions,
    'GET /v1/inbox': inbox.list,
    'GET /v1/events': events.list,
    'GET /v1/outbox': outbox.list,
  };
  /** Of the routes with their own. */
  const scopes = new Map([
    ['/v1/inbox', inbox.scopes],
    ['/v1/outbox', outbox.scopes],
  ]);
  const publicTable = new RouteTable<Call>(publicRoutes);
  const keyedTable = new RouteTable<AdmittedCall>(keyedRoutes);

  async function route(call: Call): Promise<WrittenAnswer> {
    const path = pathOf(call.request.target);
    const publicRoute = publicTable.find(path);
    const keyedRoute = keyedTable.find(path);
    if (call.notes) call.notes.route = (publicRoute ?? keyedRoute)?.path ?? null;
    if (publicRoute !== null) return publicRoute.answer(call);
    const ownScopes = scopes.get(keyedRoute?.path ?? '');
    const admitted = /^\/v1(?:\/|$)/.test(path) ? await admit(operations, call, ownScopes) : null;
    if (admitted === null || keyedRoute === null) throw noSuchRoute();
    return keyedRoute.answer(admitted);
  }

  /** The only place where an error becomes an answer. */
  function refusal(error: unknown, { requestId, notes }: Call): WrittenAnswer {
    if (error instanceof ConnectionDropped) throw error;
    const isExpected = error instanceof ServiceError;
    if (!isExpected) report(error, requestId);
    const shown = isExpected ? error : new ServiceError('unavailable', 'The service cannot answer now');
    if (notes) notes.code = shown.code;
    const { body, headers } = errorAnswer(shown);
    return jsonAnswer(shown.status, body, headers);
  }

  return {
    async answer(request, notes) {
      const requestId = newRequestId();
      if (notes) notes.requestId = requestId;
      const call: Call = { request, notes, requestId, rateLimit: fullRateLimit(kindOf(request.method)) };
      const { status, headers, body } = await route(call).catch((error) => refusal(error, call));
      return { status, headers: { ...commonHeaders(requestId, call.rateLimit), ...headers }, body };
    },
    routes: [...Object.keys(publicRoutes), ...Object.keys(keyedRoutes)],
  };
}

const alwaysReady = async (): Promise<Readiness> => ({ status: 'ready', error: null, carriers: [] });
