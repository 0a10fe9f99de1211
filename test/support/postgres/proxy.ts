import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy before PostgreSQL that hears what goes to it, and cuts connections. */
export interface PostgresProxy {
  url: string;
  /** What clients have sent, by connection. */
  sent: Buffer[][];
  /** Ends or pauses the next connection that sends `text`: before it arrives, or when it was answered. */
  cutAt(text: string, when: When): void;
  cutAll(): void;
  /** Asked for each statement of a client: whether its connection is cut, and when. */
  cuts: ((sent: Buffer) => When | null) | null;
  close(): void;
}

/** `pause`: as if its process were stopped: nothing more arrives, and the connection stays. */
type When = 'before' | 'after' | 'pause';

/** With `remembers` false `sent` stays empty. */
export async function startProxy(database: string, remembers = true): Promise<PostgresProxy> {
  const target = new URL(database);
  const sent: Buffer[][] = [];
  const sockets = new Set<Socket>();

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const heard: Buffer[] = [];
    let isMute = false;
    let isPaused = false;
    sent.push(heard);
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (data) => {
      if (remembers) heard.push(data);
      const when = proxy.cuts?.(data) ?? null;
      if (when === 'before') return end();
      if (when === 'after') isMute = true;
      if (when === 'pause') isPaused = true;
      if (!isPaused) upstream.write(data);
    });
    upstream.on('data', (data) => {
      // ReadyForQuery: it is done, and nobody hears of it.
      if (isMute && data.includes('Z\0\0\0\x05')) return end();
      if (!isMute) client.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const { port } = server.address() as AddressInfo;
  const proxy: PostgresProxy = {
    url: `postgres://${target.username}@127.0.0.1:${port}${target.pathname}`,
    sent,
    cuts: null,
    cutAt(text, when) {
      proxy.cuts = (data) => {
        if (!data.includes(text)) return null;
        proxy.cuts = null;
        return when;
      };
    },
    cutAll,
    close() {
      server.close();
      cutAll();
    },
  };
  return proxy;
}
