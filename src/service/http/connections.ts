import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What strangers may take of the service before anybody has looked at a key. */
export interface Bounds {
  /** Open connections; 1,000. */
  connections: number;
  /** Unanswered requests on one connection, at which it is no longer read; 8. */
  unanswered: number;
  /** Requests of all connections that have arrived behind that many unanswered ones; 4,096. */
  waiting: number;
  /** Headers of a request; 100. */
  headers: number;
}

export const defaultBounds: Readonly<Bounds> = {
  connections: 1_000,
  unanswered: 8,
  waiting: 4_096,
  headers: 100,
};

interface Connection {
  /** Answers of requests that have begun to arrive and are not answered yet. */
  pending: Set<ServerResponse>;
  latest: ServerResponse | null;
  /** Requests that have arrived behind too many unanswered ones. */
  waiting: (() => void)[];
  /** No further request is wanted: the connection ends after its pending answers. */
  ending: boolean;
}

/** Which connections are open, what on them still waits for its answer, and how much of both there may be. */
export class Connections {
  readonly #bounds: Bounds;
  readonly #open = new Map<Socket, Connection>();
  /** Those without a request, the longest idle first. */
  readonly #idle = new Set<Socket>();
  #waiting = 0;

  /** `shed` is what a newcomer is told when there is no room. */
  constructor(server: Server, bounds: Bounds, shed: () => string) {
    this.#bounds = bounds;
    server.on('connection', (socket) => {
      if (this.#open.size >= bounds.connections && !this.#closeLongestIdle()) {
        socket.on('error', () => {});
        socket.write(shed());
        socket.destroySoon();
        return;
      }
      const connection: Connection = { pending: new Set(), latest: null, waiting: [], ending: false };
      this.#open.set(socket, connection);
      this.#idle.add(socket);
      socket.once('close', () => this.#forget(socket, connection));
      // Node.js resumes a socket by itself, when it reads a body.
      socket.on('resume', () => this.#pauseIfFull(socket, connection));
    });
  }

  /** Calls `answer` when the request's turn comes. To be called with every response before it is written. */
  admit(response: ServerResponse, answer: () => void): void {
    const { socket } = response.req;
    const connection = this.#open.get(socket);
    if (connection === undefined || socket.destroyed) return;
    connection.pending.add(response);
    connection.latest = response;
    this.#idle.delete(socket);
    response.once('close', () => {
      connection.pending.delete(response);
      this.#continue(socket, connection);
    });
    if (connection.pending.size <= this.#bounds.unanswered) {
      answer();
    } else if (this.#waiting >= this.#bounds.waiting) {
      socket.destroy();
    } else {
      connection.waiting.push(answer);
      this.#waiting += 1;
    }
    this.#pauseIfFull(socket, connection);
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

  /** After a time without any progress: what is idle, or does not take its answers, goes. */
  stalled(socket: Socket): void {
    const pending = this.#open.get(socket)?.pending.size ?? 0;
    if (pending === 0 || socket.writableLength > 0) socket.destroy();
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

  #continue(socket: Socket, connection: Connection): void {
    const next = connection.waiting.shift();
    if (next !== undefined) {
      this.#waiting -= 1;
      next();
    }
    if (connection.pending.size < this.#bounds.unanswered && socket.isPaused()) socket.resume();
    if (connection.pending.size === 0 && this.#open.has(socket)) this.#idle.add(socket);
    this.#endIfDone(socket, connection);
  }

  #pauseIfFull(socket: Socket, { pending }: Connection): void {
    if (pending.size >= this.#bounds.unanswered) socket.pause();
  }

  #closeLongestIdle(): boolean {
    const [socket] = this.#idle;
    if (socket === undefined) return false;
    // Its `close` comes too late for the newcomer behind this one.
    this.#forget(socket, this.#open.get(socket));
    socket.destroy();
    return true;
  }

  #forget(socket: Socket, connection: Connection | undefined): void {
    this.#waiting -= connection?.waiting.splice(0).length ?? 0;
    this.#idle.delete(socket);
    this.#open.delete(socket);
  }

  #endIfDone(socket: Socket, connection: Connection): void {
    if (connection.ending && connection.pending.size === 0) socket.destroySoon();
  }
}
