import { IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Limits on clients before they have shown a key. */
export interface Bounds {
  /** Open connections; 1,000, or fewer if the process may not open that many files. */
  connections: number;
  /** Connections over the limit that are getting their 503; 100. */
  leaving: number;
  /** Unanswered requests on a connection before it is no longer read; 8. */
  unanswered: number;
  /** Requests being answered, on all connections; 4,096. Others are asked to try again. */
  answering: number;
  /** Requests waiting behind those, on all connections; 4,096. */
  waiting: number;
  /** Headers of a request; 100. */
  headers: number;
}

export const defaultBounds: Readonly<Bounds> = {
  connections: 1_000,
  leaving: 100,
  unanswered: 8,
  answering: 4_096,
  waiting: 4_096,
  headers: 100,
};

/** Milliseconds that a client over the limit has to read its 503. */
const timeToLeave = 2_000;

interface Connection {
  /** Unwritten responses, including those to requests that are still arriving. */
  pending: Set<ServerResponse>;
  latest: ServerResponse | null;
  /** Requests behind too many unanswered ones. */
  waiting: (() => void)[];
  /** The connection closes after its pending answers. */
  ending: boolean;
  /** A timeout found it inactive. */
  wasInactive: boolean;
}

/**
 * A request that may wait. When its connection closes, Node.js destroys it with an error: the stack traces of
 * thousands of pipelined requests would delay all other clients. Nothing listens to a request whose answer has not
 * begun.
 */
export class WaitingRequest extends IncomingMessage {
  hasBegun = false;

  override destroy(error?: Error): this {
    return this.hasBegun ? super.destroy(error) : this;
  }
}

/** The open connections and their unanswered requests, within bounds. */
export class Connections {
  readonly #bounds: Bounds;
  readonly #idleTimeout: number;
  readonly #open = new Map<Socket, Connection>();
  /** Connections without a request, the longest idle first. */
  readonly #idle = new Set<Socket>();
  /** Connections over the limit, the earliest first. */
  readonly #leaving = new Set<Socket>();
  #waiting = 0;
  #answering = 0;

  /**
   * `opened`: the event of a connection that is ready for requests. `idleTimeout`: milliseconds that one without a
   * request is kept. `shed` writes the answer to a connection that is over the limit.
   */
  constructor(
    server: Server<typeof WaitingRequest>,
    opened: 'connection' | 'secureConnection',
    bounds: Bounds,
    idleTimeout: number,
    shed: () => string,
  ) {
    this.#bounds = bounds;
    this.#idleTimeout = idleTimeout;
    server.on(opened, (socket: Socket) => {
      if (this.#open.size >= bounds.connections && !this.#closeLongestIdle()) {
        this.#dismiss(socket, shed());
        return;
      }
      const connection: Connection = {
        pending: new Set(),
        latest: null,
        waiting: [],
        ending: false,
        wasInactive: false,
      };
      this.#open.set(socket, connection);
      this.#idle.add(socket);
      socket.once('close', () => this.#forget(socket, connection));
      // Node.js resumes a socket by itself when it reads a body.
      socket.on('resume', () => this.#pauseIfFull(socket, connection));
    });
  }

  /**
   * Calls `answer` after the answers before it, with whether there is room. Every response goes through here first.
   */
  admit(response: ServerResponse<WaitingRequest>, answer: (hasRoom: boolean) => void): void {
    const { req: request } = response;
    const { socket } = request;
    const connection = this.#open.get(socket);
    if (connection === undefined || socket.destroyed) {
      request.resume();
      return;
    }
    const begin = () => {
      request.hasBegun = true;
      this.#answering += 1;
      response.once('close', () => {
        this.#answering -= 1;
      });
      answer(this.#answering <= this.#bounds.answering);
    };
    connection.pending.add(response);
    connection.latest = response;
    this.#idle.delete(socket);
    response.once('close', () => {
      connection.pending.delete(response);
      this.#continue(socket, connection);
    });
    if (connection.pending.size <= this.#bounds.unanswered) {
      begin();
    } else if (this.#waiting >= this.#bounds.waiting) {
      socket.destroy();
    } else {
      connection.waiting.push(begin);
      this.#waiting += 1;
    }
    this.#pauseIfFull(socket, connection);
  }

  has(socket: Socket): boolean {
    return this.#open.has(socket);
  }

  /** Closes a connection after its last pending answer. */
  end(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.ending = true;
    // Only the last answer may have `Connection: close`: later ones would be lost.
    if (connection.latest) connection.latest.shouldKeepAlive = false;
    this.#endIfDone(socket, connection);
  }

  endAll(): void {
    for (const socket of this.#open.keys()) this.end(socket);
  }

  destroyAll(): void {
    for (const socket of [...this.#open.keys(), ...this.#leaving]) socket.destroy();
  }

  /**
   * Called when a socket was inactive for a tenth of `timeout`. Closes the connection once it was inactive for all of
   * it, unless an answer is still being made. Node.js restarts the timeout of a write that was partly accepted: that
   * costs only a tenth.
   */
  onInactive(socket: Socket, timeout: number): void {
    const connection = this.#open.get(socket);
    const isMakingAnswer =
      connection !== undefined && connection.pending.size > 0 && socket.writableLength === 0;
    // The timeout of an idle connection is another.
    const isIdle = connection?.latest !== null && connection?.pending.size === 0;
    if (connection === undefined || isIdle || (connection.wasInactive && !isMakingAnswer)) {
      socket.destroy();
      return;
    }
    connection.wasInactive = !isMakingAnswer;
    socket.setTimeout(Math.ceil(isMakingAnswer ? timeout / 10 : timeout * 0.9));
  }

  /**
   * Answers a malformed request and closes its connection. If an earlier request is unanswered, only that one is
   * answered: the client would take this answer for the earlier one.
   */
  refuse(socket: Socket, rawAnswer: string): void {
    if (this.#leaving.has(socket)) return;
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
    if (connection.pending.size === 0 && this.#open.has(socket)) {
      this.#idle.add(socket);
      // Node.js has just set the time that it announces.
      socket.setTimeout(this.#idleTimeout);
    }
    this.#endIfDone(socket, connection);
  }

  #pauseIfFull(socket: Socket, { pending }: Connection): void {
    if (pending.size >= this.#bounds.unanswered) socket.pause();
  }

  /** Reads what the client still sends: closing a socket with unread data resets it, and the answer is lost. */
  #dismiss(socket: Socket, answer: string): void {
    const [earliest] = this.#leaving;
    if (earliest !== undefined && this.#leaving.size >= this.#bounds.leaving) earliest.destroy();
    this.#leaving.add(socket);
    socket.on('error', () => {});
    const timer = setTimeout(() => socket.destroy(), timeToLeave);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#leaving.delete(socket);
    });
    socket.end(answer);
  }

  #closeLongestIdle(): boolean {
    const [socket] = this.#idle;
    if (socket === undefined) return false;
    // Its `close` event comes too late for the next new connection.
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
