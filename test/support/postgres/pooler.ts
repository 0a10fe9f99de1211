import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

const startOfSession = 196_608;
const codes = { query: 0x51, terminate: 0x58, readyForQuery: 0x5a, idle: 0x49 };
/** Back to how a session starts, but for its plans: making them is most of the time of a short session. */
const reset = Buffer.from(
  '....ROLLBACK; UNLISTEN *; CLOSE ALL; DEALLOCATE ALL; RESET ALL; SELECT pg_advisory_unlock_all()\0',
);

/** A session of the server, which one client after the other uses. */
class Session {
  readonly server: Socket;
  /** Who hears its answers. */
  client: Socket | null;
  /** What the server says before the first question. */
  greeting: Buffer | null = null;
  /** Whether a question or a transaction is under way. */
  isBusy = true;
  #heard = Buffer.alloc(0);
  #onReady = () => {};

  constructor(port: number, startup: Buffer, client: Socket) {
    this.client = client;
    this.server = connect({ host: '127.0.0.1', port, noDelay: true }, () => this.server.write(startup));
    this.server.on('data', (data) => this.#hear(data));
    // A test file may end before its sessions do.
    this.server.unref();
    this.server.on('error', () => {});
    this.server.on('close', () => this.client?.destroy());
  }

  ask(data: Buffer): void {
    this.isBusy = true;
    this.server.write(data);
  }

  /** Called when the client has gone. */
  async reset(): Promise<void> {
    this.client = null;
    const ready = new Promise<void>((resolve) => {
      this.#onReady = resolve;
    });
    reset.writeUInt32BE(reset.length, 0);
    this.ask(Buffer.concat([Buffer.from([codes.query]), reset]));
    await ready;
  }

  #hear(data: Buffer): void {
    this.client?.write(data);
    this.#heard = Buffer.concat([this.#heard, data]);
    const begun = this.#heard;
    let at = 0;
    let isReady = false;
    while (at + 5 <= begun.length && at + 1 + begun.readUInt32BE(at + 1) <= begun.length) {
      isReady = begun[at] === codes.readyForQuery && begun[at + 5] === codes.idle;
      at += 1 + begun.readUInt32BE(at + 1);
    }
    if (this.greeting !== null || isReady) this.#heard = begun.subarray(at);
    this.isBusy = !isReady || at < begun.length;
    if (this.isBusy) return;
    this.greeting ??= begun;
    this.#onReady();
  }
}

/**
 * Keeps sessions of a PostgreSQL of this machine for the next client, with what they have planned: the address of its
 * own that stands for the server's.
 */
export async function openPooler(url: string): Promise<string> {
  const port = Number(new URL(url).port);
  /** By what their clients said at the start: the user, the database. */
  const free = new Map<string, Session[]>();

  function start(client: Socket, startup: Buffer): void {
    const kind = startup.toString('latin1');
    const sessions = free.get(kind) ?? [];
    free.set(kind, sessions);
    let session = sessions.pop();
    while (session?.server.destroyed) session = sessions.pop();
    if (session?.greeting) {
      session.client = client;
      client.write(session.greeting);
    }
    serve(client, session ?? new Session(port, startup, client), sessions);
  }

  function serve(client: Socket, session: Session, sessions: Session[]): void {
    client.on('data', (data) => {
      if (data[0] === codes.terminate && data.length === 5) client.end();
      else session.ask(data);
    });
    client.on('close', async () => {
      if (session.isBusy) return session.server.destroy();
      await session.reset();
      if (!session.server.destroyed) sessions.push(session);
    });
  }

  const server = createServer({ noDelay: true }, (client) => {
    client.on('error', () => {});
    client.once('data', (first) => {
      if (first.readUInt32BE(4) === startOfSession) start(client, first);
      else client.pipe(connect(port, '127.0.0.1').end(first));
    });
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return url.replace(/:\d+$/, `:${(server.address() as AddressInfo).port}`);
}
