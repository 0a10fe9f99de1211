import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from '../../src/contract/index.js';
import type { Carrier, Reservation } from '../../src/service/carriers/carrier.js';
import { OutcomeUnknown } from '../../src/service/carriers/carrier.js';
import { ManualClock } from '../../src/service/clock.js';
import type { Core, CoreDoubles } from '../../src/service/core.js';
import type { ServiceOptions } from '../../src/service/index.js';
import { Cores, caller, ledgerDifference, ticks } from './cores.js';
import { Crash, type CrashPoint } from './crash.js';
import type { TakenSegment } from './smsc.js';
import { isOnPostgres } from './test-engine.js';

/** Services with real carriers, on a clock that the test moves; connections are real. */
export class CarrierServices {
  readonly clock = new ManualClock(Date.UTC(2026, 10, 22));
  readonly cores = new Cores();
  #latest: Core | null = null;

  /** The service that was opened last. */
  get core(): Core {
    if (this.#latest === null) throw new Error('no service is open');
    return this.#latest;
  }

  configured(sms: object | string, email: object | string = 'off'): Pick<ServiceOptions, 'configuration'> {
    const file = join(this.cores.folder(), 'service.json');
    writeFileSync(file, JSON.stringify({ sms, email }));
    return { configuration: { file, environment: { PASSWORD: 'secret' } } };
  }

  async open(options: ServiceOptions, doubles: CoreDoubles = {}): Promise<Core> {
    this.#latest = await this.cores.open({ clock: this.clock, rates: 'off', ...options }, doubles);
    return this.#latest;
  }

  /** Opens one that is going to die. */
  openMortal(options: ServiceOptions, doubles: CoreDoubles): Promise<Core> {
    return this.cores.openMortal({ clock: this.clock, rates: 'off', ...options }, doubles);
  }

  /**
   * A process that sends dies at a point of its store, or at the latest when `isOver`, and `cut` ends its
   * connections; another one opens its data.
   */
  async die(
    point: CrashPoint,
    options: ServiceOptions,
    play: { send(dying: Core): Promise<unknown>; isOver(): boolean; cut?(): void },
  ): Promise<void> {
    const directory = this.cores.folder();
    const crash = new Crash(point);
    const store = crash.doubles.store as NonNullable<CoreDoubles['store']>;
    const dying = await this.openMortal({ directory, ...options }, { store });
    void play.send(dying).catch(() => {});
    let happened = false;
    void crash.happened.then(() => {
      happened = true;
    });
    await this.pass(() => happened || play.isOver(), 100);
    play.cut?.();
    crash.now();
    await this.open({ directory, ...options });
  }

  /** Closes the latest, and keeps its data. */
  async close(): Promise<void> {
    await this.passed(this.core.close(), 100);
  }

  async closeAll(): Promise<void> {
    await this.passed(this.cores.closeAll(), 100);
  }

  /** Lets time pass, and the sockets exchange what they have, until something holds: the milliseconds. */
  async pass(
    holds: () => boolean | Promise<boolean>,
    step: number | (() => number) = 500,
    longest = 1_200_000,
  ): Promise<number> {
    for (let passed = 0; passed <= longest; ) {
      // On PostgreSQL one statement follows another.
      for (let round = 0; round < (isOnPostgres() ? 4 : 1); round += 1) await ticks(40);
      if (await holds()) return passed;
      const next = typeof step === 'number' ? step : step();
      passed += next;
      this.clock.advance(next);
    }
    throw new Error('it never holds');
  }

  /** A result, for which time passes. */
  async passed<Result>(promise: Promise<Result>, step = 500): Promise<Result> {
    let isDone = false;
    const done = () => {
      isDone = true;
    };
    promise.then(done, done);
    await this.pass(() => isDone, step);
    return promise;
  }

  send(to: string, text: string, idempotencyKey: string | null = null) {
    return this.core.operations.sendSms({ caller, params: { to, text }, idempotencyKey });
  }

  /** The id of the batch, the same each time. */
  async sendBatch(to: string[], text: string, core = this.core): Promise<string> {
    const call = { caller, params: { to, text }, idempotencyKey: 'batch' };
    return ((await core.operations.sendSmsBulk(call)).body as { id: string }).id;
  }

  async messagesOf(batch: string): Promise<Message[]> {
    const page = { limit: 1_000, after: null };
    return (await this.core.operations.listBatchMessages(caller, batch, page)).data;
  }

  async completed(batch: string): Promise<void> {
    await this.pass(
      async () => (await this.core.operations.getBatch(caller, batch)).status === 'completed',
      1_000,
    );
  }
}

/** Segments that were taken more than once. */
export function takenTwice(taken: readonly TakenSegment[]): string[] {
  const keys = taken.map(({ to, number }) => `${to} ${number}`);
  return keys.filter((key, index) => keys.indexOf(key) !== index);
}

/** Throws when anything is twice, lost or untrue; the number of unknown messages. */
export async function judge(
  services: CarrierServices,
  batch: string,
  taken: readonly TakenSegment[],
): Promise<number> {
  const messages = await services.messagesOf(batch);
  const problems = takenTwice(taken).map((segment) => `taken twice: ${segment}`);
  for (const { to, status, delivery } of messages) {
    const segments = taken.filter((segment) => segment.to === to);
    const isWhole = segments.length > 0 && segments.length === segments[0]?.total;
    const isTrue =
      status === 'failed'
        ? segments.length === 0
        : status === 'sent' && (delivery === 'unknown' || isWhole === (delivery !== 'undelivered'));
    if (!isTrue)
      problems.push(`${to} is ${status}, ${delivery}, of its segments ${segments.length} were taken`);
  }
  const difference = await ledgerDifference(services.core);
  if (difference !== 0) problems.push(`the balance is ${difference} off`);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return messages.filter(({ delivery }) => delivery === 'unknown').length;
}

/** A control: it takes an unknown outcome for one that was not taken. */
export const careless: CoreDoubles = {
  carriers: (all) => all.map(carelessCarrier),
};

function carelessCarrier(carrier: Carrier): Carrier {
  const { reserve } = carrier;
  if (reserve === undefined) return carrier;
  return {
    ...carrier,
    async reserve(route, isSingle) {
      const reservation = await reserve(route, isSingle);
      return reservation === null ? null : carelessReservation(reservation);
    },
  };
}

const carelessReservation = (reservation: Reservation): Reservation => ({
  ...reservation,
  async submit(submission, signal) {
    try {
      return await reservation.submit(submission, signal);
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error;
      return { kind: 'later', reason: error.message, code: 'unknown', scope: 'message' };
    }
  },
});
