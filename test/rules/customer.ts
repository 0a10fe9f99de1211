import { onTestFinished } from 'vitest';
import { bulkClass, classHeader, type ErrorEnvelope, type Message } from '../../src/contract/index.js';
import {
  createService,
  type Delivery,
  ManualClock,
  type Service,
  type ServiceOptions,
} from '../../src/service/index.js';
import { testEngine } from '../support/test-engine.js';

export interface Reply {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
  error: ErrorEnvelope['error'] | undefined;
}

/** The whole service, asked by HTTP in this process, at a time that stands still. */
export interface Customer {
  service: Service;
  clock: ManualClock;
  post(
    path: string,
    body: unknown,
    options?: { key?: string; apiKey?: string; list?: boolean },
  ): Promise<Reply>;
  get(path: string, apiKey?: string): Promise<Reply>;
  balance(): Promise<number>;
  outbox(to?: string): Promise<Delivery[]>;
  /** Lets the background work end, and reads a message or a batch's messages. */
  idle(): Promise<void>;
  messagesOf(batch: Reply): Promise<Message[]>;
}

/** The request rate is off unless a test is about it. */
export async function newCustomer(options: ServiceOptions = {}): Promise<Customer> {
  const clock = new ManualClock(Date.parse('2026-03-02T01:00:00.000Z'));
  const engine = await testEngine();
  const service = await createService({ clock, rates: 'off', ...engine.options, ...options });
  onTestFinished(async () => {
    await service.close();
    engine.release();
  });

  async function ask(path: string, init: RequestInit, apiKey: string): Promise<Reply> {
    const headers = { authorization: `Bearer ${apiKey}`, ...init.headers };
    const response = await service.fetch(`http://service.test/v1${path}`, { ...init, headers });
    const body = (await response.json()) as Record<string, unknown>;
    return {
      status: response.status,
      headers: response.headers,
      body,
      error: body.error === null ? undefined : (body as Partial<ErrorEnvelope>).error,
    };
  }
  const get = (path: string, apiKey = service.localKey) => ask(path, {}, apiKey);
  const idle = () => service.administration.idle();

  return {
    service,
    clock,
    get,
    idle,
    post(path, body, { key, apiKey = service.localKey, list = false } = {}) {
      const headers = {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(list ? { [classHeader]: bulkClass } : {}),
      };
      return ask(path, { method: 'POST', headers, body: JSON.stringify(body) }, apiKey);
    },
    balance: () => service.administration.credit(0),
    async outbox(to) {
      const deliveries: Delivery[] = [];
      const filter = to === undefined ? {} : { to };
      for await (const delivery of service.administration.outbox(filter)) deliveries.push(delivery);
      return deliveries;
    },
    async messagesOf(batch) {
      await idle();
      const { body } = await get(`/batches/${batch.body.id}/messages?limit=1000`);
      return body.data as Message[];
    },
  };
}
