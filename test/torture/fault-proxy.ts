import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

const page = '<html><body><h1>502 Bad Gateway</h1></body></html>';
const httpPage = `HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: ${page.length}\r\nConnection: close\r\n\r\n${page}`;
const redirect =
  'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

interface Fault {
  name: string;
  after: boolean;
  act(client: Socket, answer: Buffer): void;
}

/** What can happen to a request; those with `after` reach the service before anything goes wrong. */
const faults: readonly Fault[] = [
  { name: 'drop before', after: false, act: (client: Socket) => client.destroy() },
  { name: 'page before', after: false, act: (client: Socket) => client.end(httpPage) },
  { name: 'redirect', after: false, act: (client: Socket) => client.end(redirect) },
  {
    name: 'garbage',
    after: false,
    act: (client: Socket) => client.end('\u0000\u0001 no http at all\r\n\r\n'),
  },
  { name: 'hang before', after: false, act: () => {} },
  { name: 'drop after', after: true, act: (client: Socket) => client.destroy() },
  { name: 'reset after', after: true, act: (client: Socket) => client.resetAndDestroy() },
  { name: 'page after', after: true, act: (client: Socket) => client.end(httpPage) },
  { name: 'hang after', after: true, act: () => {} },
  {
    name: 'cut',
    after: true,
    act: (client: Socket, answer: Buffer) => client.end(answer.subarray(0, Math.floor(answer.length / 2))),
  },
];

export interface FaultProxy {
  port: number;
  /** Requests that came, and to how many of them something happened. */
  readonly counts: { requests: number; faults: number };
  /** Resolves when so many further requests have been passed on, or after so many milliseconds. */
  passed(requests: number, milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Passes TCP connections on to a service and spoils a share of the requests: before the service sees them, or
 * after it has done what they ask. Half of the others are delayed a little.
 */
export async function startFaultProxy(
  target: () => number,
  share: number,
  random: () => number,
): Promise<FaultProxy> {
  const counts = { requests: 0, faults: 0 };
  const passed = new EventEmitter();
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target(), '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    let fault: Fault | null = null;
    client.on('data', (data) => {
      if (/^(?:GET|POST) /.test(data.toString('latin1', 0, 5))) {
        counts.requests += 1;
        fault = random() < share ? (faults[Math.floor(random() * faults.length)] ?? null) : null;
        if (fault !== null) counts.faults += 1;
      }
      if (fault !== null && !fault.after) return fault.act(client, Buffer.alloc(0));
      upstream.write(data);
      passed.emit('request');
    });
    upstream.on('data', (data) => {
      if (fault !== null) return void fault.act(client, data);
      if (random() < 0.5) return void client.write(data);
      setTimeout(() => client.write(data), random() * 40);
    });
    client.on('end', () => upstream.end());
    upstream.on('close', () => setTimeout(() => client.destroy(), 50));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    counts,
    async passed(requests, milliseconds) {
      let left = requests;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds).unref();
        const onRequest = () => {
          left -= 1;
          if (left > 0) return;
          clearTimeout(timer);
          passed.off('request', onRequest);
          resolve();
        };
        passed.on('request', onRequest);
      });
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
