import { IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { longestWaiting, networkOf, type Waiting } from './make-room.js';

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

interface Connection extends Waiting {
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
  readonly #now: () => number;
  readonly #shed: () => string;
  /** With TLS also those that shake hands, by their raw sockets. */
  readonly #open = new Map<Socket, Connection>();
  /** Connections over the limit with their answers, the earliest first. */
  readonly #leaving = new Map<Socket, string>();
  #waiting = 0;
  #answering = 0;

  /**
   * `idleTimeout`: milliseconds that a connection without a request is kept. `shed`: called for each one that is turned
   * away; the answer to it. `now`: monotonic.
   */
  constructor(
    server: Server<typeof WaitingRequest>,
    {
      isTls,
      ...options
    }: { isTls: boolean; bounds: Bounds; idleTimeout: number; now(): number; shed(): string },
  ) {
    this.#bounds = options.bounds;
    this.#idleTimeout = options.idleTimeout;
    this.#now = options.now;
    this.#shed = options.shed;
    /** Raw sockets that shake hands, by the addresses that their TLS sockets have too. */
    const shaking = new Map<string, Socket>();
    server.on('connection', (socket: Socket) => {
      const connection = this.#enter(socket);
      if (isTls) {
        const ends = endsOf(socket);
        shaking.set(ends, socket);
        socket.once('close', () => shaking.get(ends) === socket && shaking.delete(ends));
      } else if (connection === null) socket.end(this.#leaving.get(socket) ?? '');
      else this.#follow(socket, connection);
    });
    server.on('secureConnection', (socket: Socket) => {
      const raw = shaking.get(endsOf(socket));
      const connection = raw && this.#open.get(raw);
      if (raw === undefined || connection === undefined) {
        socket.on('error', () => {});
        socket.end((raw && this.#leaving.get(raw)) ?? '');
        return;
      }
      this.#open.delete(raw);
      this.#open.set(socket, connection);
      this.#follow(socket, connection);
    });
  }

  /** Null for a connection over the limit. */
  #enter(socket: Socket): Connection | null {
    if (this.#open.size >= this.#bounds.connections && !this.#makeRoom()) {
      this.#dismiss(socket);
      return null;
    }
    const connection: Connection = {
      client: networkOf(socket.remoteAddress ?? ''),
      since: this.#now(),
      pending: new Set(),
      latest: null,
      waiting: [],
      ending: false,
      wasInactive: false,
    };
    this.#open.set(socket, connection);
    socket.once('close', () => this.#forget(socket, connection));
    return connection;
  }

  #follow(socket: Socket, connection: Connection): void {
    socket.once('close', () => this.#forget(socket, connection));
    // Node.js resumes a socket by itself when it reads a body.
    socket.on('resume', () => this.#pauseIfFull(socket, connection));
  }

  /**
   * Calls `answer` after the answers before it, with whether there is room. Every response goes through here first.
   * Once its promise is done, the answer waits for the client alone.
   */
  admit(response: ServerResponse<WaitingRequest>, answer: (hasRoom: boolean) => Promise<void>): void {
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
      void answer(this.#answering <= this.#bounds.answering).finally(() => {
        this.#answering -= 1;
      });
    };
    if (connection.pending.size === 0) connection.since = this.#now();
    connection.pending.add(response);
    connection.latest = response;
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
    for (const socket of [...this.#open.keys(), ...this.#leaving.keys()]) socket.destroy();
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
    connection.since = this.#now();
    if (connection.pending.size === 0 && this.#open.has(socket)) {
      // Node.js has just set the time that it announces.
      socket.setTimeout(this.#idleTimeout);
    }
    this.#endIfDone(socket, connection);
  }

  #pauseIfFull(socket: Socket, { pending }: Connection): void {
    if (pending.size >= this.#bounds.unanswered) socket.pause();
  }

  /** Reads what the client still sends: closing a socket with unread data resets it, and the answer is lost. */
  #dismiss(socket: Socket): void {
    const [earliest] = this.#leaving.keys();
    if (earliest !== undefined && this.#leaving.size >= this.#bounds.leaving) earliest.destroy();
    this.#leaving.set(socket, this.#shed());
    socket.on('error', () => {});
    const timer = setTimeout(() => socket.destroy(), timeToLeave);
    socket.once('close', () => {
      clearTimeout(timer);
      this.#leaving.delete(socket);
    });
  }

  /** False if the service is at work for all of them. */
  #makeRoom(): boolean {
    const socket = longestWaiting(this.#open, this.#now());
    if (socket === null) return false;
    const connection = this.#open.get(socket);
    if (connection && connection.pending.size > 0) this.#shed();
    // Its `close` event comes too late for the next new connection.
    this.#forget(socket, connection);
    socket.destroy();
    return true;
  }

  #forget(socket: Socket, connection: Connection | undefined): void {
    this.#waiting -= connection?.waiting.splice(0).length ?? 0;
    this.#open.delete(socket);
  }

  #endIfDone(socket: Socket, connection: Connection): void {
    if (connection.ending && connection.pending.size === 0) socket.destroySoon();
  }
}

const endsOf = ({ remoteAddress, remotePort, localAddress }: Socket) =>
  `${remoteAddress} ${remotePort} ${localAddress}`;
