import { everyAttempt } from '../carriers/carrier.js';
import type { SimulatedCarrier } from '../carriers/simulated/simulated.js';
import type { Clock } from '../clock.js';
import type { Delivery } from '../dispatch/dispatcher.js';
import type { OutcomeWaiter } from '../operations/outcome-waiter.js';
import type { Report } from '../report.js';
import { ServiceError } from '../service-error.js';
import type { Allowances } from '../storage/rate-limiter.js';
import type { Store } from '../storage/store.js';
import { openingBalance } from './projects.js';

export interface ResetParts {
  store: Store;
  carrier: SimulatedCarrier;
  allowances: Allowances;
  delivery: Delivery;
  outcomes: OutcomeWaiter;
  clock: Clock;
  /** Unique to this service object. */
  owner: string;
  report: Report;
}

/** Milliseconds that everything is held back after the last sign of life of a reset. */
const holdTime = 4_000;
const signEvery = 1_000;
const lookEvery = 50;

/**
 * Empties a service as one ordered operation: new requests are held back, in every process; what was accepted here
 * ends; the store is emptied, and what another process was still submitting is fenced; then the carrier's outbox
 * and the rates. So every send was either before it or comes after it. Resets that come together follow each other.
 */
export function createReset(parts: ResetParts) {
  let latest: Promise<unknown> = Promise.resolve();
  return {
    run(): Promise<void> {
      const mine = latest.then(() => reset(parts));
      latest = Promise.allSettled([mine]);
      return mine;
    },
    /** Resolves when none is under way. */
    ended: () => latest,
  };
}

async function reset(parts: ResetParts): Promise<void> {
  const { store, carrier, allowances, delivery, outcomes, clock, owner, report } = parts;
  const until = () => clock.now() + holdTime;
  while (!(await store.beginReset(owner, clock.now(), until()))) await pause(clock, lookEvery);
  const stopSigns = repeat(clock, signEvery, () =>
    store.beginReset(owner, clock.now(), until()).catch((error) => report(error, { level: 'warning' })),
  );
  try {
    // Requests whose message was accepted just now are about to submit it.
    await new Promise(setImmediate);
    const stopped = delivery.stop();
    carrier.pause();
    await stopped;
    const underWay = await store.reset(openingBalance, clock.now(), until);
    try {
      await Promise.all(underWay.map(({ id, to }) => carrier.inquire(id, to, everyAttempt)));
      await Promise.all([carrier.reset(), allowances.reset()]);
    } catch (error) {
      // It may say that nothing was done, as for a write by itself.
      report(error, { level: 'warning' });
      throw halfDone();
    }
  } finally {
    stopSigns();
    carrier.resume();
    delivery.start();
    await store.endReset(owner).catch((error) => report(error, { level: 'warning' }));
    // Those that waited for a message that is gone, and those that were held back.
    outcomes.notifyAll();
  }
}

function halfDone(): ServiceError {
  const message = 'the messages were removed, and the outbox was not yet; reset again to finish';
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
