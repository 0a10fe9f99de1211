import { spawn } from 'node:child_process';
import { Agent, request } from 'node:http';
import { gatewayCarrier } from '../../src/service/carriers/http/gateway.js';
import { systemClock } from '../../src/service/clock.js';
import { ownRouteRates } from '../../src/service/storage/route-limits.js';
import { gatewayRoute } from '../service/carriers/http/gateway-routes.js';
import { printed } from '../support/binary.js';
import { submissionOf } from '../support/smpp.js';
import { inPairs, type Row } from './pairs.js';

/** A gateway that takes everything at once; it looks for the end of a request and no further. */
export const gatewayProgram = `
const answer = 'HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: 24\\r\\n\\r\\n{"status":"0","id":"g1"}';
require('node:net').createServer((socket) => {
  let text = '';
  socket.setNoDelay(true);
  socket.on('error', () => {}).on('data', (bytes) => {
    text += bytes.toString('latin1');
    for (;;) {
      const head = text.indexOf('\\r\\n\\r\\n');
      if (head < 0) return;
      const end = head + 4 + Number(/content-length: (\\d+)/i.exec(text)?.[1] ?? 0);
      if (text.length < end) return;
      text = text.slice(end);
      socket.write(answer);
    }
  });
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;

const concurrent = 10;
const messages = 20_000;

/** A second, with so many under way at once. */
async function rateOf(submit: () => Promise<void>): Promise<number> {
  const start = performance.now();
  let next = 0;
  const submitAll = async () => {
    while (next < messages) {
      next += 1;
      await submit();
    }
  };
  await Promise.all(Array.from({ length: concurrent }, submitAll));
  return messages / ((performance.now() - start) / 1_000);
}

/** Requests of Node.js's own client over kept-alive connections, their answers read and parsed. */
async function bare(port: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrent });
  const body = 'to=97699112233&text=Hi';
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': body.length };
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const outgoing = request({ host: '127.0.0.1', port, path: '/send', method: 'POST', agent, headers });
      outgoing.on('error', reject).on('response', (incoming) => {
        let text = '';
        incoming.setEncoding('utf8');
        incoming.on('data', (more: string) => {
          text += more;
        });
        incoming.on('end', () => {
          JSON.parse(text);
          resolve();
        });
      });
      outgoing.end(body);
    });
  const rate = await rateOf(one);
  agent.destroy();
  return rate;
}

/** The same through the carrier. */
async function throughCarrier(port: number): Promise<number> {
  const carrier = gatewayCarrier({
    routes: [
      gatewayRoute({
        url: new URL(`http://127.0.0.1:${port}/send`),
        accepted: { status: [200], field: { path: 'status', is: ['0'] }, match: null },
        id: { path: 'id' },
        concurrent,
        perSecond: 1_000_000,
      }),
    ],
    clock: systemClock,
    limits: ownRouteRates(systemClock),
    report(error) {
      throw error;
    },
    recipientOf: async () => null,
  });
  await carrier.start(async () => {});
  const { signal } = new AbortController();
  const submission = submissionOf('0123456789abcdef', { route: 'gateway' });
  const rate = await rateOf(async () => {
    const { kind } = await carrier.submit(submission, signal);
    if (kind !== 'accepted') throw new Error(kind);
  });
  await carrier.stop();
  return rate;
}

/** The carrier alone, to a gateway in a process of its own. */
export async function gateway(pairs = 5): Promise<Row[]> {
  const child = spawn(process.execPath, ['-e', gatewayProgram], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = Number(await printed(child, 'stdout', /\n/));
  const { ratio, a, b } = await inPairs(
    () => throughCarrier(port),
    () => bare(port),
    pairs,
  );
  child.kill('SIGKILL');
  const perSecond = (rate: number) => `${Math.round(rate).toLocaleString('en')}/s`;
  return [
    {
      what: `HTTP gateway: submissions on ${concurrent} connections, loopback`,
      against: `a bare kept-alive client: ${perSecond(b)}`,
      goal: '0.55x',
      measured: `${ratio.toFixed(2)}x (${perSecond(a)})`,
      met: ratio >= 0.55,
    },
  ];
}
