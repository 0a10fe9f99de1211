import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { inPairs, type Row } from './pairs.js';
import { bareSends } from './service-core.js';
import { type RunningService, startService } from './service-process.js';

const sends = 4_000;
const text = 'Сайн байна уу, таны захиалга ирлээ.';

export type Service = Pick<RunningService, 'url' | 'key'>;

/** One POST; rejects for an answer that is none of success. */
export function post(service: Service, path: string, agent: Agent, fields: object): Promise<void> {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify(fields);
    const headers = {
      Authorization: `Bearer ${service.key}`,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'Idempotency-Key': randomUUID(),
    };
    request(`${service.url}${path}`, { method: 'POST', agent, headers }, (response) => {
      const { statusCode = 0 } = response;
      response.resume().on('end', () => {
        if (statusCode < 300) resolve();
        else reject(new Error(`the service answered ${statusCode}`));
      });
    })
      .on('error', reject)
      .end(body);
  });
}

/** A bare sender over kept-alive connections; `total` bodies by so many at once, and gives how many a second. */
export async function postRate(
  service: Service,
  path: string,
  total: number,
  connections: number,
  bodyOf: (index: number) => object,
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let next = 0;
  const work = async () => {
    while (next < total) await post(service, path, agent, bodyOf(next++));
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: connections }, work));
  const seconds = (performance.now() - start) / 1_000;
  agent.destroy();
  return total / seconds;
}

/** POST /v1/sms over loopback, a row and a charge durable before each answer. */
export async function http(pairs = 5): Promise<Row[]> {
  await using service = await startService('off');
  // Each recipient once, for the service counts what one gets; numbers below these are answered with faults.
  let recipient = 99_100_000;
  const rate = () => postRate(service, '/sms', sends, 16, () => ({ to: `${recipient++}`, text }));
  const { ratio, a, b } = await inPairs(rate, bareSends, pairs);
  return [
    {
      what: 'service: POST /v1/sms, 16 connections, durable',
      against: 'the bare SQLite transaction of the same rows',
      goal: '0.6 of its rate',
      measured: `${ratio.toFixed(2)} (${a.toFixed(0)}/s to ${b.toFixed(0)}/s)`,
      met: ratio >= 0.6,
    },
  ];
}
