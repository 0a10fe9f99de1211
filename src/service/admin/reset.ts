import { everyAttempt } from '../carriers/carrier.js';
import type { SimulatedCarrier } from '../carriers/simulated/simulated.js';
import type { Clock } from '../clock.js';
import type { Dispatcher } from '../dispatch/dispatcher.js';
import { ServiceError } from '../errors/service-error.js';
import type { Report } from '../report.js';
import type { RateLimiter } from '../storage/rate-limiter.js';
import type { Store } from '../storage/store.js';
import { openingBalance } from './projects.js';

export interface ResetParts {
  store: Store;
  carrier: SimulatedCarrier;
  rateLimiter: RateLimiter;
  dispatcher: Pick<Dispatcher, 'start' | 'stop'>;
  clock: Clock;
  /** Unique to this service object. */
  owner: string;
  report: Report;
}

/** Milliseconds for which everything is held back after the last sign of life of a reset. */
const holdTime = 4_000;
const signEvery = 1_000;
const lookEvery = 50;

/**
 * Empties a service in order: new requests are held back in every process; messages accepted here finish; the store
 * is emptied, and whatever another process may still be submitting is fenced; then the carrier's outbox and the rates
 * are emptied. So every send is either before it or after it. Simultaneous resets run one after another.
 */
export function createReset(parts: ResetParts) {
  let latest: Promise<unknown> = Promise.resolve();
  return {
    run(): Promise<void> {
      const mine = latest.then(() => reset(parts));
      latest = Promise.allSettled([mine]);
      return mine;
    },
    /** Resolves when no reset is running. */
    ended: () => latest,
  };
}

async function reset(parts: ResetParts): Promise<void> {
  const { store, carrier, rateLimiter, dispatcher, clock, owner, report } = parts;
  while (!(await store.beginReset(owner, holdTime))) await pause(clock, lookEvery);
  const stopSigns = repeat(clock, signEvery, () =>
    store.beginReset(owner, holdTime).catch((error) => report(error, { level: 'warning' })),
  );
  try {
    // Requests whose message was just accepted are about to submit it.
    await new Promise(setImmediate);
    await dispatcher.stop();
    const submitting = await store.reset(openingBalance, holdTime);
    try {
      await Promise.all(submitting.map(({ id, to }) => carrier.inquire(id, to, everyAttempt)));
      await Promise.all([carrier.outbox.reset(), rateLimiter.reset()]);
    } catch (error) {
      // It may report that nothing was done, as for a single write.
      report(error, { level: 'warning' });
      throw halfDone();
    }
  } finally {
    stopSigns();
    await dispatcher.start();
    // Wakes requests that wait for a deleted message, and those that were held back.
    await store.endReset(owner).catch((error) => report(error, { level: 'warning' }));
  }
}

function halfDone(): ServiceError {
  const message = 'the messages were removed, but not the outbox; reset again to finish';
  return new ServiceError('unavailable', message, { retryAfter: 1 });
}

function pause(clock: Clock, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(milliseconds, resolve);
  });
}

function repeat(clock: Clock, milliseconds: number, run: () => void): () => void {
  let cancel = () => {};
  const next = () => {
    cancel = clock.after(milliseconds, () => {
      run();
      next();
    });
  };
  next();
  return () => cancel();
}
