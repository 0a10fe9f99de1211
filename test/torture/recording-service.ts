import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FakeProject } from '../cli/commands/bulk/fake-project.js';

/** A project at a port of this machine that knows when each send arrived. */
export class RecordingService {
  project = new FakeProject();
  /** When the posts arrived; milliseconds since 1970. */
  arrivals: number[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<RecordingService> {
    const server = createServer(async (request, response) => {
      const { url = '/', headers } = request;
      const method = request.method === 'POST' ? 'POST' : 'GET';
      if (method === 'POST') service.arrivals.push(Date.now());
      let body = '';
      for await (const piece of request.setEncoding('utf8')) body += piece;
      const answer = await service.project.service.fetch(url, {
        method,
        headers: { 'Idempotency-Key': String(headers['idempotency-key'] ?? '') },
        ...(body === '' ? {} : { body }),
        redirect: 'manual',
        signal: new AbortController().signal,
      });
      response.writeHead(answer.status, { 'Content-Type': 'application/json' });
      for await (const piece of answer.body as AsyncIterable<Uint8Array>) response.write(piece);
      response.end();
    });
    const service = new RecordingService(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return service;
  }

  /** Ends in `/v1`. */
  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Another project, to which nothing was sent yet. */
  reset(): void {
    this.project = new FakeProject();
    this.arrivals = [];
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
