import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Connection {
  /** Answers of requests that have begun to arrive and are not answered yet. */
  pending: Set<ServerResponse>;
  latest: ServerResponse | null;
  /** No further request is wanted: the connection ends after its pending answers. */
  ending: boolean;
}

/** Which connections are open, and what on them still waits for its answer. */
export class Connections {
  readonly #open = new Map<Socket, Connection>();

  constructor(server: Server) {
    server.on('connection', (socket) => {
      this.#open.set(socket, { pending: new Set(), latest: null, ending: false });
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  /** To be called with every response before it is written. */
  track(response: ServerResponse): void {
    const { socket } = response.req;
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.pending.add(response);
    connection.latest = response;
    response.once('close', () => {
      connection.pending.delete(response);
      this.#endIfDone(socket, connection);
    });
  }

  /** Ends a connection as soon as nothing on it waits for an answer. */
  end(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.ending = true;
    // Only the last answer may say `Connection: close`: those after it would be lost.
    if (connection.latest) connection.latest.shouldKeepAlive = false;
    this.#endIfDone(socket, connection);
  }

  endAll(): void {
    for (const socket of this.#open.keys()) this.end(socket);
  }

  destroyAll(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }

  /**
   * Says on a connection that what is arriving on it is no request. An answer that is still due to an earlier,
   * whole request goes first and alone: this one would be taken for it.
   */
  refuse(socket: Socket, rawAnswer: string): void {
    const connection = this.#open.get(socket);
    const latest = connection?.latest;
    const answered = latest?.headersSent === true && !latest.req.complete;
    if (latest?.req.complete === false) connection?.pending.delete(latest);
    if (connection !== undefined && connection.pending.size > 0) {
      this.end(socket);
    } else {
      if (socket.writable && !answered) socket.write(rawAnswer);
      socket.destroySoon();
    }
  }

  #endIfDone(socket: Socket, connection: Connection): void {
    if (connection.ending && connection.pending.size === 0) socket.destroySoon();
  }
}
