import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Machine } from '../../support/binary.js';
import { type Server, scripted, served } from './server.js';

/** The heap that the service gets. */
const env = { NODE_OPTIONS: '--max-old-space-size=256' };
export interface Strangers {
  /** Connections that say nothing. */
  idle: number;
  /** Connections of each other kind. */
  sockets: number;
  /** Milliseconds in which others have to be answered. */
  patience: number;
  /** Milliseconds that an attack goes on. */
  attack: number;
}

/** A service without bounds runs out of heap within so many. */
const longest = 15_000;

interface Found {
  probes: number;
  /** Milliseconds. */
  slowest: number;
  /** Requests of a customer that were not answered in time. */
  unanswered: number;
  /** Attacks that the service did not survive. */
  died: string[];
}

/** Opens connections to a port and lets each be written to by `use`. */
async function crowd(
  port: number,
  count: number,
  use: (socket: Socket, index: number) => void,
): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let index = 0; index < count; index += 1) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.once('connect', () => use(socket, index));
    sockets.push(socket);
    // So many at once as a listening socket has room for.
    if (index % 100 === 99)
      await Promise.race([once(socket, 'connect'), once(socket, 'close'), sleep(1_000)]);
  }
  return sockets;
}

const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;
const document = head('GET /v1/openapi.json HTTP/1.1', 'Host: a');
const headers = Array.from({ length: 90 }, (_, index) => `X-${index}: ${'x'.repeat(160)}`);

/** What strangers do; none of them has a key. */
const attacks: Readonly<Record<string, (port: number, size: Strangers) => Promise<Socket[]>>> = {
  'pipelining and never reading': (port, { sockets }) =>
    crowd(port, sockets, (socket) => socket.pause().write(document.repeat(1_500))),
  'slow bodies': (port, { sockets }) =>
    crowd(port, sockets, (socket, index) => {
      socket.write(
        head('POST /v1/sms HTTP/1.1', 'Host: a', 'Content-Type: application/json', 'Content-Length: 999999'),
      );
      const drip = setInterval(() => socket.write('x'.repeat(1_000)), 50 + (index % 50));
      socket.once('close', () => clearInterval(drip));
    }),
  'idle connections': (port, { idle }) => crowd(port, idle, () => {}),
  'one request a connection': async (port, { idle }) => {
    const all = await crowd(port, idle, (socket) =>
      socket.resume().end(head('GET /v1/balance HTTP/1.1', 'Host: a')),
    );
    return all;
  },
  'headers at the limits': (port, { sockets }) =>
    crowd(port, sockets, (socket) => {
      const one = head('GET /v1/balance HTTP/1.1', 'Host: a', ...headers);
      socket.on('data', () => socket.write(one));
      socket.write(one.repeat(8));
    }),
};

/** Lets strangers at `urtuu serve`, with a small heap, while others ask for something. */
export async function playStrangers(size: Strangers): Promise<Found> {
  const found: Found = { probes: 0, slowest: 0, unanswered: 0, died: [] };
  for (const name of Object.keys(attacks)) {
    await playAttack(name, size, found, size.attack, async (machine) =>
      served(machine, `${machine.home}/data`, env),
    );
  }
  return found;
}

/** The first attack on a service that has no bounds; ends when it dies. */
export async function playOnBoundless(size: Strangers): Promise<Found> {
  const found: Found = { probes: 0, slowest: 0, unanswered: 0, died: [] };
  await playAttack('pipelining and never reading', size, found, longest, (machine) =>
    scripted(machine, `${machine.home}/data`, 'boundless', env),
  );
  return found;
}

async function playAttack(
  name: string,
  size: Strangers,
  found: Found,
  milliseconds: number,
  serverOf: (machine: Machine) => Promise<Server>,
): Promise<void> {
  const machine = new Machine();
  const server = await serverOf(machine);
  try {
    await server.start();
    const port = Number(new URL(server.url).port);
    const sockets = await attacks[name]?.(port, size);
    const end = performance.now() + milliseconds;
    while (server.running && performance.now() < end) {
      const started = performance.now();
      const answered = await probe(port, size.patience);
      found.probes += 1;
      found.slowest = Math.max(found.slowest, Math.round(performance.now() - started));
      if (!answered && server.running) found.unanswered += 1;
      await sleep(50);
    }
    if (!server.running) found.died.push(name);
    for (const socket of sockets ?? []) socket.destroy();
  } finally {
    await server.end('SIGKILL');
    machine.remove();
  }
}

/** Whether a request on a new connection is answered in time; without a key, so that no rate is in the way. */
function probe(port: number, patience: number): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { port, host: '127.0.0.1', path: '/v1/balance', agent: false };
    const asked = request(options, (response) => {
      response.resume();
      resolve(response.statusCode === 401);
    });
    const late = setTimeout(() => asked.destroy(), patience);
    asked.on('error', () => resolve(false));
    asked.on('close', () => clearTimeout(late));
    asked.end();
  });
}
