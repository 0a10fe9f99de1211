import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { UrtuuOptions } from '../../client/index.js';
import { realSystem, type System } from '../../client/system.js';
import { Urtuu } from '../../client/urtuu.js';
import type { World } from '../world.js';
import { fileBuckets } from './bucket-store.js';
import { RateLimiter } from './rate-limiter.js';

/** How long a single request waits for its token before it goes without. */
const longestWait = 30_000;

interface Needs {
  world: Pick<World, 'clock'>;
  /** The state folder. */
  state: string;
  /** Told of a wait that is over a second; in milliseconds. */
  waiting(milliseconds: number): void;
}

/** The limiter of a project, shared by its commands on this machine. The key itself is not in the file names. */
export function openRateLimiter({ world, state, waiting }: Needs, baseUrl: string, key: string): RateLimiter {
  const { clock } = world;
  const project = createHash('sha256')
    .update(JSON.stringify([baseUrl, key]))
    .digest('hex');
  const folder = join(state, 'rate-limit', project.slice(0, 32));
  return new RateLimiter({
    clock,
    buckets: fileBuckets(folder, clock),
    onWait: (_, milliseconds) => waiting(milliseconds),
  });
}

/** A client whose every attempt, retries included, takes a token first. `signal` ends the waiting. */
export function limitedClient(
  key: string,
  options: UrtuuOptions,
  limiter: RateLimiter,
  signal: () => AbortSignal,
): Urtuu {
  const system: System = {
    ...realSystem,
    async ready(method) {
      const kind = method === 'GET' ? 'reading' : 'sending';
      if (await limiter.take(kind, signal(), longestWait)) return;
      // Nothing new goes out once the command is over.
      signal().throwIfAborted();
      if (limiter.closed) throw new Error('the command has ended');
      limiter.goAhead(kind);
    },
  };
  const Client = Urtuu as unknown as new (key: string, options: UrtuuOptions, system: System) => Urtuu;
  return new Client(key, options, system);
}
