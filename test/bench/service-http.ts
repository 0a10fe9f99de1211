import { Agent, request } from 'node:http';
import { inPairs, type Row } from './pairs.js';
import { bareSends } from './service-core.js';
import { startService } from './service-process.js';

const connections = 16;
const sends = 4_000;

/** POST /v1/sms over loopback, a row and a charge durable before each answer. */
export async function http(pairs = 5): Promise<Row[]> {
  await using service = await startService('off');
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let recipient = 0;
  const send = () =>
    new Promise<void>((resolve, reject) => {
      // Each recipient once, for the service counts what one gets; numbers below these are answered with faults.
      const to = `${99_100_000 + (recipient++ % 800_000)}`;
      const body = JSON.stringify({ to, text: 'Сайн байна уу, таны захиалга ирлээ.' });
      const headers = {
        Authorization: `Bearer ${service.key}`,
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
        'Idempotency-Key': `bench-${recipient}`,
      };
      request(`${service.url}/sms`, { method: 'POST', agent, headers }, (response) => {
        response.resume().on('end', () => {
          if (response.statusCode === 200) resolve();
          else reject(new Error(`the service answered ${response.statusCode}`));
        });
      })
        .on('error', reject)
        .end(body);
    });
  const rate = async () => {
    let left = sends;
    const start = performance.now();
    const work = async () => {
      while (left-- > 0) await send();
    };
    await Promise.all(Array.from({ length: connections }, work));
    return (sends / (performance.now() - start)) * 1_000;
  };
  const { ratio, a, b } = await inPairs(rate, bareSends, pairs);
  agent.destroy();
  return [
    {
      what: 'service: POST /v1/sms, 16 connections, durable',
      against: 'the bare SQLite transaction of the same rows',
      goal: '0.5 of its rate',
      measured: `${ratio.toFixed(2)} (${a.toFixed(0)}/s to ${b.toFixed(0)}/s)`,
      met: ratio >= 0.5,
    },
  ];
}
