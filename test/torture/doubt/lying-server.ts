import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ModelService, Refused } from '../../cli/bulk/model-service.js';
import { json, Loopback, type SeenRequest } from '../../support/loopback.js';
import { errorBody, pricing } from '../../support/resources.js';
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
  const service = new ModelService({ credits: 1_000_000 });
  const way = lyingWay(random, {
    now: () => Date.now(),
    sleep: (milliseconds) => sleep(milliseconds),
    timeout,
  });

  async function answer({ method, path, headers, body }: SeenRequest): Promise<object> {
    if (path.endsWith('/pricing')) return pricing;
    if (path.endsWith('/balance')) return way.balance();
    if (method !== 'POST') throw new Refused('not_found', 404);
    return way.carry(() => service.handle(JSON.parse(body), String(headers['idempotency-key'])));
  }

  function fail(response: ServerResponse, { code, status, retryAfter, ...fields }: Refused): void {
    if (status === null && !honest) {
      refuse(response, 429, 'rate_limited', {}, 0);
    } else if (code === 'timeout') {
      // It is never answered; the sender has to give up by itself.
    } else if (code === 'unexpected_response') {
      response.writeHead(502).end('<html>');
    } else if (status === null) {
      response.socket?.destroy();
    } else {
      refuse(response, status, code, fields, retryAfter);
    }
  }

  const server = await Loopback.listen((request, response) => {
    void answer(request).then(
      (body) => json(response, 200, body),
      (error: unknown) => fail(response, error as Refused),
    );
  });
  return { baseUrl: `${server.origin}/v1`, service, way, close: () => server[Symbol.asyncDispose]() };
}

function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  fields: object,
  retryAfter: number | null,
): void {
  const wait = retryAfter === null ? {} : { 'retry-after': String(retryAfter) };
  json(response, status, errorBody(code, fields), wait);
}
