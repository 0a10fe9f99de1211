import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A proxy before PostgreSQL that hears what goes to it, and cuts connections. */
export interface Proxy {
  url: string;
  /** What clients have sent, by connection. */
  sent: Buffer[][];
  /** Ends the next connection that sends `text`: before it arrives, or when it was answered. */
  cutAt(text: string, when: 'before' | 'after'): void;
  cutAll(): void;
}

export async function startProxy(database: string): Promise<Proxy> {
  const target = new URL(database);
  const sent: Buffer[][] = [];
  const sockets = new Set<Socket>();
  let cut: { text: string; when: 'before' | 'after' } | null = null;

  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const heard: Buffer[] = [];
    let isMute = false;
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
      heard.push(data);
      if (cut !== null && data.includes(cut.text)) {
        const { when } = cut;
        cut = null;
        if (when === 'before') return end();
        isMute = true;
      }
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      // ReadyForQuery: it is committed, and nobody hears of it.
      if (isMute && data.includes('Z\0\0\0\x05I')) return end();
      if (!isMute) client.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    server.close();
    cutAll();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgres://${target.username}@127.0.0.1:${port}${target.pathname}`,
    sent,
    cutAt(text, when) {
      cut = { text, when };
    },
    cutAll,
  };
}
