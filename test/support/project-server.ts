import { FakeProject } from './fake-project.js';
import { Loopback } from './loopback.js';

/** The fake project at a port of this machine. */
export class ProjectServer {
  project = new FakeProject();
  /** When the posts arrived; milliseconds since 1970. */
  arrivals: number[] = [];
  /** Whether it says which answers repeat earlier ones; the interface does not ask for it. */
  saysReplays = false;
  readonly #server: Loopback;

  private constructor(server: Loopback) {
    this.#server = server;
  }

  static async start(): Promise<ProjectServer> {
    const server: ProjectServer = new ProjectServer(
      await Loopback.listen(async ({ method, path, headers, body }, response) => {
        if (method === 'POST') server.arrivals.push(Date.now());
        const answer = await server.project.service.fetch(path, {
          method: method === 'POST' ? 'POST' : 'GET',
          headers: { 'Idempotency-Key': String(headers['idempotency-key'] ?? '') },
          ...(body === '' ? {} : { body }),
          redirect: 'manual',
          signal: new AbortController().signal,
        });
        const replayed = server.saysReplays && answer.headers.get('Idempotency-Replayed');
        response.writeHead(answer.status, {
          'Content-Type': 'application/json',
          ...(replayed ? { 'Idempotency-Replayed': replayed } : {}),
        });
        for await (const piece of answer.body as AsyncIterable<Uint8Array>) response.write(piece);
        response.end();
      }),
    );
    return server;
  }

  get baseUrl(): string {
    return `${this.#server.origin}/v1`;
  }

  /** Another project, to which nothing was sent yet. */
  reset(): void {
    this.project = new FakeProject();
    this.arrivals = [];
    this.#server.requests.length = 0;
  }

  close(): Promise<void> {
    return this.#server[Symbol.asyncDispose]();
  }
}
