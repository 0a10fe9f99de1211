import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A request that arrived whole. */
export interface TakenRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** Of its form or query. */
  fields: Record<string, string>;
}

export type Reaction = (response: ServerResponse, request: TakenRequest, index: number) => void;

/** An answer in JSON. */
export const answer =
  (status: number, body: unknown = {}, headers: Record<string, string> = {}): Reaction =>
  (response) => {
    const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(text) }).end(text);
  };

/** These bytes, and the end of the connection. */
export const bytes =
  (text: string | Buffer): Reaction =>
  ({ socket }) =>
    socket?.end(text);

/** An SMS gateway that does whatever a test says. */
export class FaultyGateway {
  readonly taken: TakenRequest[] = [];
  /** Accepts, unless said otherwise. */
  react: Reaction = answer(200, { status: '0', id: 'g1' });
  /** Connections that were made. */
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(server: Server = createServer()) {
    this.#server = server;
    server.keepAliveTimeout = 60_000;
    server.on('connection', (socket: Socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => this.#sockets.delete(socket));
    });
    server.on('request', (request, response) => void this.#take(request, response));
  }

  async listen(port = 0): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  /** Every connection ends. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return;
    }
    const { method = '', url = '', headers } = request;
    const body = Buffer.concat(chunks).toString();
    const form = method === 'GET' ? (url.split('?')[1] ?? '') : body;
    const fields = Object.fromEntries(new URLSearchParams(form));
    const taken = { method, url, headers, body, fields };
    this.taken.push(taken);
    this.react(response, taken, this.taken.length - 1);
  }
}
