import type { FetchLike } from '../../client/index.js';
import type { Service } from '../../service/index.js';

/** A fetch that reaches a service in this process. */
export function embeddedFetch(service: Service): FetchLike {
  return async (url, { method, headers, body }) => {
    const answer = await service.exchange({ method, url, headers, body });
    const byName = new Map(
      Object.entries(answer.headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
    return {
      status: answer.status,
      headers: { get: (name) => byName.get(name.toLowerCase()) ?? null },
      body: bytesOf(answer.body),
    };
  };
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(text);
}
