import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** What a test's server does with a request; `response.socket` is there for worse than HTTP. */
export type Answering = (request: SeenRequest, response: ServerResponse, count: number) => void;

/** A real HTTP server on a free loopback port, which remembers what it was asked. */
export class Loopback implements AsyncDisposable {
  readonly requests: SeenRequest[] = [];
  readonly sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async listen(answering: Answering): Promise<Loopback> {
    const server = createServer();
    const loopback = new Loopback(server);
    server.on('connection', (socket) => {
      loopback.sockets.add(socket);
      socket.on('error', () => {}).on('close', () => loopback.sockets.delete(socket));
    });
    server.on('request', (message, response) => {
      const chunks: Buffer[] = [];
      message.on('error', () => {}).on('data', (chunk: Buffer) => chunks.push(chunk));
      message.on('end', () => {
        const { method = '', url: path = '', headers } = message;
        const seen = { method, path, headers, body: Buffer.concat(chunks).toString() };
        answering(seen, response, loopback.requests.push(seen));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return loopback;
  }

  /** `http://127.0.0.1:<port>`, without a path. */
  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Answers with JSON. */
export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
