import { setMaxListeners } from 'node:events';
import type { Context } from '../../context.js';
import type { CarryOutOptions } from './options.js';

/** After a SIGTERM what is in flight has this long; the process has to be gone in 5 s. */
const terminateAfter = 3_500;

export type JobWorld = Awaited<ReturnType<typeof openJobWorld>>;

/** What a job touches outside: the client, the rate limiter it shares, the clock, the signals. */
export async function openJobWorld(context: Context, options: Pick<CarryOutOptions, 'rate'>) {
  const { clock, signal } = context;
  const sleep = (milliseconds: number, stop?: AbortSignal) => clock.sleep(milliseconds, stop).catch(() => {});
  const { client, limiter } = await context.network.unlimitedClient();
  if (options.rate !== undefined) limiter.limitTo(options.rate);
  const replays = { count: 0 };
  const replayed = new Set<string>();
  const forget = context.network.onExchange((exchange) => {
    const { status, idempotencyKey } = exchange;
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
  return {
    client,
    listing: client,
    pace: limiter,
    replays,
    isReplay: (idempotencyKey: string) => replayed.delete(idempotencyKey),
    forget() {
      forget();
      signal.removeEventListener('abort', onSignal);
    },
    sleep,
    now: () => clock.elapsed(),
    after: (milliseconds: number, run: () => void) => clock.after(milliseconds, run),
    stop: signal,
    abandon: abandon.signal,
  };
}
