import type { KeyScope } from '../../../src/service/administration.js';
import { ServiceError } from '../../../src/service/errors/service-error.js';
import { type AppOptions, createApp } from '../../../src/service/http/app.js';
import { inProcess } from '../../../src/service/http/in-process.js';
import type {
  Answer,
  Operations,
  RateLimit,
  RequestHead,
} from '../../../src/service/operations/operations.js';
import { everyScope } from '../../../src/service/storage/admission.js';
import {
  batchResult,
  emailResult,
  pricing,
  smsMessage,
  smsResult,
  verification as verificationOf,
} from '../../support/resources.js';

export const goodKey = `urtuu_${'k'.repeat(40)}`;
export const ids = {
  message: '11111111-1111-4111-8111-111111111111',
  batch: '22222222-2222-4222-8222-222222222222',
  verification: '33333333-3333-4333-8333-333333333333',
} as const;

export const sms = smsResult({ id: ids.message });
export const email = emailResult({ id: ids.message });
export const batch = batchResult({ id: ids.batch });
export const verification = verificationOf({ id: ids.verification });
const message = smsMessage({ id: ids.message });

export type Call = [operation: string, ...given: unknown[]];

export type Overrides = Partial<Operations> & {
  rateLimit?: RateLimit;
  /** The answer bound to every idempotency key. */
  bound?: Answer;
  scope?: readonly KeyScope[];
};

const rateLimits = {
  sending: { allowed: true, limit: 40, remaining: 39, retryAfter: 0 },
  reading: { allowed: true, limit: 10, remaining: 9, retryAfter: 0 },
} as const;

/** Operations that remember what they were asked, and keep answers by idempotency key. */
export function fakeOperations({ rateLimit, bound, scope = everyScope, ...overrides }: Overrides = {}): {
  operations: Operations;
  calls: Call[];
  admissions: Omit<RequestHead, 'secret'>[];
} {
  const admissions: Omit<RequestHead, 'secret'>[] = [];
  const calls: Call[] = [];
  const answers = new Map<string, Answer>();

  function send(name: string, status: number, body: object) {
    return async (call: { params: unknown; idempotencyKey: string | null }): Promise<Answer> => {
      calls.push([name, call.params, call.idempotencyKey]);
      const answer = { status, body, replayed: false };
      if (call.idempotencyKey !== null) answers.set(call.idempotencyKey, answer);
      return answer;
    };
  }
  function read<Resource>(name: string, known: string, resource: Resource) {
    return async (_caller: unknown, id: string, ...rest: unknown[]): Promise<Resource> => {
      calls.push([name, id, ...rest]);
      if (id !== known) throw new ServiceError('not_found', 'No such id in this project');
      return resource;
    };
  }

  const operations: Operations = {
    async admit({ secret, kind, idempotencyKey }) {
      admissions.push({ kind, idempotencyKey });
      if (secret !== goodKey) return null;
      const answer = idempotencyKey === null ? undefined : (bound ?? answers.get(idempotencyKey));
      return {
        caller: { projectId: 'project', keyId: 'key' },
        scope,
        rateLimit: rateLimit ?? rateLimits[kind],
        replay: answer === undefined ? null : async () => answer,
      };
    },
    sendSms: send('sendSms', 200, sms),
    sendSmsBulk: send('sendSmsBulk', 202, batch),
    sendEmail: send('sendEmail', 202, email),
    sendEmailBulk: send('sendEmailBulk', 202, { ...batch, channel: 'email' }),
    createVerification: async (_caller, params) => {
      calls.push(['createVerification', params]);
      return { ...verification, balance: 990 };
    },
    checkVerification: read('checkVerification', ids.verification, verification),
    getVerification: read('getVerification', ids.verification, verification),
    getMessage: read('getMessage', ids.message, message),
    getBatch: read('getBatch', ids.batch, batch),
    listBatchMessages: read('listBatchMessages', ids.batch, { data: [message], next: null }),
    listMessages: async (_caller, filter, page) => {
      calls.push(['listMessages', filter, page]);
      return { data: [message], next: null };
    },
    listBatches: async (_caller, filter, page) => {
      calls.push(['listBatches', filter, page]);
      const { balance: _, ...listed } = batch;
      return { data: [listed], next: null };
    },
    listInbox: async (_caller, filter, page) => {
      calls.push(['listInbox', filter, page]);
      return { data: [], next: null };
    },
    listEvents: async (_caller, query) => {
      calls.push(['listEvents', query]);
      return { data: [], next: '0123456789ab-0' };
    },
    getBalance: async () => ({ balance: 1000 }),
    getPricing: async () => pricing,
    checkSuppressions: async (_caller, params) => {
      calls.push(['checkSuppressions', params]);
      return { data: [] };
    },
    ...overrides,
  };
  return { operations, calls, admissions };
}

/** The app, in this process. */
const outbox = { isOffered: async () => true, list: async () => ({ data: [], next: null }) };

export const openApp = (operations: Operations, options?: AppOptions) =>
  inProcess(createApp(operations, { outbox, ...options }));

export interface Given {
  method?: string;
  headers?: Record<string, string | null>;
  /** A string or bytes go as they are, anything else as JSON. */
  body?: unknown;
}

/** A request with a good key and JSON, unless the test says otherwise; `null` takes a header away. */
export function request(path: string, { method, headers = {}, body }: Given = {}): Request {
  const all: Record<string, string | null> = {
    authorization: `Bearer ${goodKey}`,
    'content-type': body === undefined ? null : 'application/json',
    ...headers,
  };
  const init: RequestInit & { duplex?: 'half' } = {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null),
  };
  if (body !== undefined) {
    const raw = typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream;
    init.body = raw ? (body as RequestInit['body'] & {}) : JSON.stringify(body);
    init.duplex = 'half';
  }
  return new Request(`http://127.0.0.1${path}`, init);
}
