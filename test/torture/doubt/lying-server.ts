import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ModelService, Refused } from '../../cli/bulk/model-service.js';
import { pricing } from '../../support/run.js';
import { lyingWay, type Way } from './lying-way.js';

export interface LyingServer {
  baseUrl: string;
  service: ModelService;
  way: Way;
  close(): Promise<void>;
}

/** The service in memory, over HTTP, behind the lying way. `honest: false` calls a lost answer a 429. */
export async function startLyingServer(
  random: () => number,
  { timeout, honest }: { timeout: number; honest: boolean },
): Promise<LyingServer> {
  const service = new ModelService({ binding: false, credits: 1_000_000 });
  const way = lyingWay(random, {
    now: () => Date.now(),
    sleep: (milliseconds) => sleep(milliseconds),
    timeout,
  });

  async function answer(request: IncomingMessage): Promise<object> {
    if (request.url?.endsWith('/pricing')) return pricing;
    if (request.url?.endsWith('/balance')) return way.balance();
    if (request.method !== 'POST') throw new Refused('not_found', 404);
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = JSON.parse(Buffer.concat(parts).toString()) as { to: string | string[] };
    const key = String(request.headers['idempotency-key']);
    const common = { channel: 'sms', status: 'sent', created_at: new Date().toISOString(), error: null };
    return { ...common, ...(await way.carry(() => service.handle(body, key))) };
  }

  const server = createServer((request, response) => {
    void answer(request).then(
      (body) => end(response, 200, body),
      (error: unknown) => fail(request, response, error as Refused),
    );
  });

  function fail(request: IncomingMessage, response: ServerResponse, error: Refused): void {
    const { code, status, retryAfter } = error;
    if (status === null && !honest) {
      end(response, 429, { error: { code: 'rate_limited' } }, 0);
    } else if (code === 'timeout') {
      // It is never answered; the sender has to give up by itself.
      request.socket.once('close', () => response.destroy());
    } else if (code === 'unexpected_response') {
      response.writeHead(502).end('<html>');
    } else if (status === null) {
      request.socket.destroy();
    } else {
      const { balance, required, invalid } = error as unknown as Record<string, unknown>;
      end(response, status, { error: { code, message: code, balance, required, invalid } }, retryAfter);
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    service,
    way,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function end(response: ServerResponse, status: number, body: object, retryAfter: number | null = null): void {
  const wait = retryAfter === null ? {} : { 'retry-after': String(retryAfter) };
  response.writeHead(status, { 'content-type': 'application/json', ...wait }).end(JSON.stringify(body));
}
