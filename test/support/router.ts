import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A service on a database of its own, and the API keys of the projects in it. */
export interface Site {
  url: string;
  keys: readonly string[];
}

export interface Router extends AsyncDisposable {
  url: string;
}

const hashOf = (key: string) => createHash('sha256').update(key).digest('hex');

/** Several services under one address: a directory from the hash of a key to its service. Unknown keys go to the first. */
export async function startRouter(sites: readonly Site[]): Promise<Router> {
  const directory = new Map(sites.flatMap(({ url, keys }) => keys.map((key) => [hashOf(key), url] as const)));
  const agent = new Agent({ keepAlive: true });
  const server = createServer((asked, answer) => {
    const key = asked.headers.authorization?.replace(/^Bearer /i, '') ?? '';
    const site = directory.get(hashOf(key)) ?? sites[0]?.url ?? '';
    const { method, headers } = asked;
    const passed = request(new URL(asked.url ?? '/', site), { method, headers, agent }, (answered) => {
      answer.writeHead(answered.statusCode ?? 502, answered.rawHeaders);
      answered.pipe(answer);
    });
    // The client asks again, with the same key.
    passed.on('error', () => answer.destroy());
    asked.pipe(passed);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      agent.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
