import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import type { Way } from '../../../network/through-proxy.js';
import type { Clock } from '../../clock.js';

/**
 * Milliseconds that a connection is kept after its last answer; Node.js keeps it for a shorter time if the gateway
 * says so.
 */
const keptMs = 2_000;

/**
 * The connections to a gateway. One that it closes, or that answers twice, is not reused: its next message would be
 * in doubt.
 */
export class GatewayAgent {
  readonly agent: http.Agent;
  readonly #clock: Clock;
  /** When each connection became free, on the monotonic clock. */
  readonly #freeSince = new WeakMap<Socket, number>();

  constructor(protocol: string, clock: Clock, way: Way | null) {
    this.#clock = clock;
    const options = { keepAlive: true, scheduling: 'lifo', timeout: keptMs } as const;
    this.agent = protocol === 'https:' ? new https.Agent(options) : new http.Agent(options);
    const keep = this.agent.keepSocketAlive.bind(this.agent) as (socket: Socket) => boolean;
    this.agent.keepSocketAlive = (stream) => {
      const socket = stream as Socket;
      this.#freeSince.set(socket, clock.monotonic());
      socket.on('data', destroyIt);
      return keep(socket);
    };
    way?.use(this.agent);
    const reuse = this.agent.reuseSocket.bind(this.agent);
    this.agent.reuseSocket = (socket, request) => {
      socket.off('data', destroyIt);
      reuse(socket, request);
    };
  }

  /** Called before each request: a paused process misses its timers. */
  forgetOld(): void {
    const oldest = this.#clock.monotonic() - keptMs;
    for (const sockets of Object.values(this.agent.freeSockets))
      for (const socket of sockets ?? [])
        if ((this.#freeSince.get(socket) ?? Number.NEGATIVE_INFINITY) < oldest) socket.destroy();
  }
}

function destroyIt(this: Socket): void {
  this.destroy();
}
