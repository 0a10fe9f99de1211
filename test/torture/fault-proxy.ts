import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type Fault, faults, needsKey } from './faults.js';

export interface FaultProxy {
  port: number;
  /** Requests that came, and to how many of them something happened. */
  readonly counts: { requests: number; faults: number };
  /** Resolves when so many further requests have been passed on, or after so many milliseconds. */
  passed(requests: number, milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Passes TCP connections on to a service and spoils a share of the requests. Half of the others are delayed a
 * little.
 */
export async function startFaultProxy(
  target: () => number,
  share: number,
  random: () => number,
): Promise<FaultProxy> {
  const counts = { requests: 0, faults: 0 };
  const passed = new EventEmitter();
  const sockets = new Set<Socket>();

  function open(socket: Socket): Socket {
    sockets.add(socket);
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  }

  function faultFor(request: Buffer): Fault | null {
    counts.requests += 1;
    if (random() >= share) return null;
    const fault = faults[Math.floor(random() * faults.length)] ?? null;
    if (fault !== null && needsKey(fault) && !hasKey(request)) return null;
    counts.faults += 1;
    return fault;
  }

  const server = createServer((client) => {
    open(client);
    const upstream = open(connect(target(), '127.0.0.1'));
    let fault: Fault | null = null;
    let waiting = Buffer.alloc(0);
    let spoiled = false;
    /** What is left of the delay of an earlier part of the answer. */
    let written = Promise.resolve();

    client.on('data', (data) => {
      waiting = waiting.length === 0 ? data : Buffer.concat([waiting, data]);
      if (spoiled || !isWhole(waiting)) return;
      const request = waiting;
      waiting = Buffer.alloc(0);
      fault = faultFor(request);
      if (fault?.passes === 'nothing') {
        spoiled = true;
        return fault.answer(client, Buffer.alloc(0));
      }
      if (fault?.passes === 'half') {
        spoiled = true;
        return void upstream.write(request.subarray(0, Math.floor(request.length / 2)), () => {
          upstream.destroy();
          client.destroy();
        });
      }
      upstream.write(request);
      if (fault?.passes === 'twice') open(connect(target(), '127.0.0.1')).end(request).resume();
      passed.emit('request');
    });
    upstream.on('data', (data) => {
      if (spoiled) return;
      if (fault !== null) {
        spoiled = true;
        return fault.answer(client, data);
      }
      const delay = random() < 0.5 ? 0 : random() * 40;
      written = written.then(() => delayed(delay)).then(() => void client.write(data));
    });
    client.on('end', () => upstream.end()).on('close', () => upstream.destroy());
    upstream.on('close', () => {
      if (!spoiled) void written.then(() => delayed(50)).then(() => client.destroy());
    });
  });
  return {
    ...(await listening(server)),
    counts,
    passed: (requests, milliseconds) => countDown(passed, requests, milliseconds),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

async function listening(server: Server): Promise<{ port: number }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port };
}

const delayed = (milliseconds: number) =>
  milliseconds === 0 ? undefined : new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** Whether head and body are there; nothing here sends a body without its length. */
function isWhole(request: Buffer): boolean {
  const end = request.indexOf('\r\n\r\n');
  if (end === -1) return false;
  const [, length = '0'] = /\r\ncontent-length: *(\d+)/i.exec(request.toString('latin1', 0, end)) ?? [];
  return request.length >= end + 4 + Number(length);
}

function hasKey(request: Buffer): boolean {
  return /\r\nidempotency-key:/i.test(request.toString('latin1', 0, request.indexOf('\r\n\r\n')));
}

function countDown(events: EventEmitter, count: number, milliseconds: number): Promise<void> {
  let left = count;
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      events.off('request', onRequest);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds).unref();
    const onRequest = () => {
      left -= 1;
      if (left <= 0) finish();
    };
    events.on('request', onRequest);
  });
}
