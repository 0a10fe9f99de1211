import { setMaxListeners } from 'node:events';
import type { Context } from '../../context.js';
import type { CarryOutOptions } from './options.js';

/** How long requests in flight have after a SIGTERM; the process must end within 5 s. */
const abandonAfter = 3_500;

export type JobRuntime = Awaited<ReturnType<typeof openJobRuntime>>;

/** The client, rate limiter, clock and signals of a job. Close it at the end. */
export async function openJobRuntime(
  { clock, signal, network }: Pick<Context, 'clock' | 'signal' | 'network'>,
  { rate }: Pick<CarryOutOptions, 'rate'>,
) {
  const sleep = (milliseconds: number, stop?: AbortSignal) => clock.sleep(milliseconds, stop).catch(() => {});
  const { client, send, limiter } = await network.unlimitedClient();
  const { balance, pricing, batches, messages } = client;
  if (rate !== undefined) limiter.limitTo(rate);
  const replays = { count: 0 };
  const replayed = new Set<string>();
  const stopListening = network.onExchange((exchange) => {
    const { status, idempotencyKey } = exchange;
    if (!exchange.replayed) return;
    replays.count += 1;
    if (idempotencyKey !== null && (status ?? 500) < 300) replayed.add(idempotencyKey);
  });
  const abandon = new AbortController();
  const onSignal = () => {
    if ((signal.reason as Error).cause !== 'SIGINT') void sleep(abandonAfter).then(() => abandon.abort());
  };
  signal.addEventListener('abort', onSignal);
  // Every request in flight listens to it.
  setMaxListeners(0, abandon.signal);
  return {
    client: { send, balance, pricing, batches, messages },
    messageLister: client,
    rateLimiter: limiter,
    replays,
    isReplay: (idempotencyKey: string) => replayed.delete(idempotencyKey),
    close() {
      stopListening();
      signal.removeEventListener('abort', onSignal);
    },
    sleep,
    random: () => network.random(),
    now: () => clock.elapsed(),
    wallTime: () => clock.now(),
    after: (milliseconds: number, run: () => void) => clock.after(milliseconds, run),
    stop: signal,
    abandon: abandon.signal,
  };
}
