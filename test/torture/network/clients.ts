import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Urtuu as Client, FetchLike } from '../../../src/client/index.js';
import { root } from '../../support/binary.js';

/** The client as it ships, and clients that are wrong in one point. */
export type ClientKind = 'shipped' | 'new_key_per_attempt' | 'resends_verify';

const send = fetch as unknown as FetchLike;

const wrongly: Record<Exclude<ClientKind, 'shipped'>, FetchLike> = {
  new_key_per_attempt: (url, init) =>
    send(url, { ...init, headers: { ...init.headers, 'Idempotency-Key': randomUUID() } }),
  async resends_verify(url, init) {
    for (let retries = 0; url.endsWith('/verify') && retries < 2; retries += 1) {
      try {
        const response = await send(url, { ...init, signal: AbortSignal.timeout(200) });
        if (response.status < 500) return response;
      } catch {}
    }
    return send(url, init);
  },
};

/** Out of `dist`, with its own waits and its own global fetch. */
export function newClient(kind: ClientKind, key: string, baseUrl: string): Client {
  const require = createRequire(join(root, 'package.json'));
  const { Urtuu } = require('./dist/client/index.cjs') as typeof import('../../../src/client/index.js');
  const options = { baseUrl, timeout: 500 };
  return new Urtuu(key, kind === 'shipped' ? options : { ...options, fetch: wrongly[kind] });
}
