import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';

/** What the network does to a request: loses it, or its answer. */
export type Fault = 'request lost' | 'answer lost' | null;

/** The real service behind a socket that can lose what goes through it, and that counts the sends. */
export class TestService {
  posts = 0;
  /** Asked at every send. */
  fault: () => Fault = () => null;
  /** Every send waits for it. */
  hold: Promise<void> = Promise.resolve();
  readonly #sandbox: Sandbox;
  readonly #server: Server;
  readonly #waiting: { posts: number; resolve: () => void }[] = [];

  private constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<TestService> {
    const sandbox = await startSandbox({ port: null, rates: 'off' });
    await sandbox.credit(10_000_000);
    const service = new TestService(sandbox);
    service.#server.listen(0, '127.0.0.1');
    await once(service.#server, 'listening');
    return service;
  }

  /** Settings that lead to it. */
  get env(): { URTUU_API_KEY: string; URTUU_BASE_URL: string } {
    const { port } = this.#server.address() as AddressInfo;
    return { URTUU_API_KEY: this.#sandbox.key, URTUU_BASE_URL: `http://127.0.0.1:${port}/v1` };
  }

  /** Resolves when so many further sends have come. */
  posted(count: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ posts: this.posts + count, resolve }));
  }

  /** How many messages each recipient got. */
  async received(): Promise<Map<string, number>> {
    await this.#sandbox.idle();
    const got = new Map<string, number>();
    for (const { to } of await this.#sandbox.outbox()) got.set(to, (got.get(to) ?? 0) + 1);
    return got;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await this.#sandbox.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    let fault: Fault = null;
    if (method === 'POST' && !url.startsWith('/v1/suppressions/')) {
      this.posts += 1;
      for (const { posts, resolve } of this.#waiting) if (posts <= this.posts) resolve();
      fault = this.fault();
      await this.hold;
    }
    if (fault === 'request lost') return void response.destroy();
    const { authorization = '', 'content-type': type, 'idempotency-key': key } = request.headers;
    const answer = await this.#sandbox.fetch(`http://127.0.0.1${url}`, {
      method,
      headers: {
        Authorization: authorization,
        ...(type === undefined ? {} : { 'Content-Type': type }),
        ...(key === undefined ? {} : { 'Idempotency-Key': String(key) }),
      },
      ...(method === 'POST' ? { body: Buffer.concat(chunks) } : {}),
    });
    if (fault === 'answer lost') return void response.destroy();
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  }
}
