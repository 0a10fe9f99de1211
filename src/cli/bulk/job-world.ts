import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import type { Context } from '../context.js';
import { fileBuckets } from './bucket.js';
import type { CarryOutOptions } from './options.js';
import { Pace } from './pace.js';

/** After a SIGTERM what is in flight has this long; the process has to be gone in 5 s. */
const terminateAfter = 3_500;

export type JobWorld = Awaited<ReturnType<typeof openJobWorld>>;

/** What a job touches outside: the client, the pace it shares, the clock, the signals. */
export async function openJobWorld(context: Context, options: Pick<CarryOutOptions, 'rate'>) {
  const { clock, stateDirectory, signal } = context;
  const sleep = (milliseconds: number, stop?: AbortSignal) => clock.sleep(milliseconds, stop).catch(() => {});
  const pace = new Pace({
    buckets: fileBuckets(join(stateDirectory, 'pace', await projectOf(context))),
    now: () => clock.now(),
    sleep,
    ...(options.rate === undefined ? {} : { perSecond: options.rate }),
  });
  const replays = { count: 0 };
  const replayed = new Set<string>();
  const forget = context.onExchange((exchange) => {
    const { kind, rate, status, idempotencyKey } = exchange;
    pace.ended(kind, rate?.remaining ?? null);
    if (!exchange.replayed) return;
    replays.count += 1;
    if (idempotencyKey !== null && (status ?? 500) < 300) replayed.add(idempotencyKey);
  });
  const abandon = new AbortController();
  const onSignal = () => {
    if ((signal.reason as Error).cause !== 'SIGINT') void sleep(terminateAfter).then(() => abandon.abort());
  };
  signal.addEventListener('abort', onSignal);
  // Every request in flight listens to it, and stops listening when it ends.
  setMaxListeners(0, abandon.signal);
  const client = await context.client();
  return {
    client,
    listing: client,
    pace,
    replays,
    isReplay: (idempotencyKey: string) => replayed.delete(idempotencyKey),
    forget() {
      forget();
      signal.removeEventListener('abort', onSignal);
    },
    sleep,
    now: () => clock.now(),
    stop: signal,
    abandon: abandon.signal,
  };
}

/** Names the allowance that is shared: one project's at one service. The key itself is not in it. */
async function projectOf(context: Context): Promise<string> {
  const { baseUrl, key } = context.sandbox ? { baseUrl: 'sandbox:', key: null } : await context.settings();
  return createHash('sha256')
    .update(JSON.stringify([baseUrl, key]))
    .digest('hex')
    .slice(0, 32);
}
