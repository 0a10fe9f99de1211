import type { Clock } from './clock.js';
import { DataError } from './errors/data-error.js';
import { ServiceError } from './errors/service-error.js';
import type { Heartbeat } from './heartbeat/heartbeat.js';
import type { ConnectionState } from './storage/instances.js';
import type { Storage } from './storage/storage.js';
import type { HoldReason, Store } from './storage/store.js';
import { timestamp } from './timestamp.js';

export interface Readiness {
  status: 'ready' | 'held' | 'stopping' | 'unavailable';
  /** Why it is not ready. */
  error: ServiceError | null;
  /** The lanes with this instance's connection for them, and since when (ISO 8601). */
  carriers: { lane: string; state: ConnectionState; since: string }[];
}

const released = 'until the service is released: urtuu service release';
const holdMessages: Readonly<Record<HoldReason, string>> = {
  restored: `The data was restored; nothing is sent ${released}`,
  failed_over: `The database has failed over or was recovered; nothing is sent ${released}`,
};

export interface ReadinessParts {
  storage: Pick<Storage, 'check'>;
  store: Pick<Store, 'held'>;
  heartbeat: Pick<Heartbeat, 'connections'>;
  clock: Clock;
  /** Whether it serves its last requests. */
  isStopping?(): boolean;
  report(error: unknown): void;
}

/** Milliseconds for which an answer is everybody's. */
const lookEvery = 1_000;

/** Whether an instance can serve requests. An operator that is down does not make it unready. */
export function readinessOf({
  storage,
  store,
  heartbeat,
  clock,
  isStopping = () => false,
  report,
}: ReadinessParts): () => Promise<Readiness> {
  let isReported = false;
  let last: { since: number; isOver: boolean; looked: ReturnType<typeof look> } | null = null;

  /** However many ask, the store is asked once a second: it writes for it. */
  function shared(): ReturnType<typeof look> {
    const now = clock.monotonic();
    if (last !== null && (!last.isOver || now - last.since < lookEvery)) return last.looked;
    const looked = look();
    const current = { since: now, isOver: false, looked };
    last = current;
    return looked.finally(() => {
      current.isOver = true;
    });
  }

  async function look(): Promise<Pick<Readiness, 'status' | 'error'>> {
    try {
      await storage.check();
      const reason = await store.held();
      isReported = false;
      if (reason === null) return { status: 'ready', error: null };
      return { status: 'held', error: unavailable(holdMessages[reason]) };
    } catch (error) {
      if (error instanceof ServiceError) return { status: 'unavailable', error };
      if (error instanceof DataError) return { status: 'unavailable', error: unavailable(error.message) };
      // Once for each outage.
      if (!isReported) report(error);
      isReported = true;
      return { status: 'unavailable', error: unavailable('The store cannot be used') };
    }
  }

  return async () => {
    const now = clock.now();
    return {
      ...(isStopping() ? stopping : await shared()),
      carriers: heartbeat.connections.map(({ lane, state, forMs }) => ({
        lane,
        state,
        since: timestamp(now - forMs),
      })),
    };
  };
}

const stopping = { status: 'stopping', error: unavailable('The service is stopping') } as const;

function unavailable(message: string): ServiceError {
  return new ServiceError('unavailable', message);
}
