import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from '../../src/contract/index.js';
import { ManualClock } from '../../src/service/clock.js';
import type { Core, CoreDoubles } from '../../src/service/core.js';
import type { Store } from '../../src/service/storage/store.js';
import { Cores, caller, ticks } from './cores.js';
import { isOnPostgres } from './test-engine.js';

/** Several instances of a service with one SMPP route on one store, on a clock that the test moves. */
export class SmppInstances {
  readonly clock = new ManualClock(Date.UTC(2026, 10, 22));
  readonly cores = new Cores();
  readonly #directory = this.cores.folder();
  readonly #route: object;
  readonly opened: Core[] = [];

  constructor(route: object) {
    this.#route = route;
  }

  async open(doubles: CoreDoubles = {}): Promise<Core> {
    const core = await this.cores.open(this.#options(), doubles);
    this.opened.push(core);
    // As one that listens.
    await core.heartbeat.begin('http://127.0.0.1');
    return core;
  }

  /** Opens one that is going to die. */
  openMortal(doubles: CoreDoubles): Promise<Core> {
    return this.cores.openMortal(this.#options(), doubles);
  }

  #options() {
    const file = join(this.#directory, 'service.json');
    writeFileSync(file, JSON.stringify({ sms: { routes: [this.#route] }, email: 'off' }));
    return {
      directory: this.#directory,
      clock: this.clock,
      rates: 'off' as const,
      configuration: { file, environment: { PASSWORD: 'secret' } },
    };
  }

  /** Lets time pass, and sockets and the store exchange what they have, until something holds: the milliseconds. */
  async pass(holds: () => boolean | Promise<boolean>, step = 250, longest = 600_000): Promise<number> {
    for (let passed = 0; passed <= longest; passed += step) {
      await this.idle();
      if (await holds()) return passed;
      this.clock.advance(step);
    }
    throw new Error('it never holds');
  }

  passFor(milliseconds: number, step = 250): Promise<number> {
    const end = this.clock.monotonic() + milliseconds;
    return this.pass(() => this.clock.monotonic() >= end, step);
  }

  async idle(): Promise<void> {
    await ticks(12);
    // Statements are answered about in their order: those before have been, when these are.
    for (let round = 0; isOnPostgres() && round < 2; round += 1) {
      await Promise.all(
        this.opened.flatMap(({ storage: { store, rateLimiter } }) => [
          store.listProjects(),
          rateLimiter.takePermits('other', 1_000, 1),
          rateLimiter.takePermits('other', 1_000, 1),
        ]),
      );
      await ticks(12);
    }
  }

  /** A result, for which time passes. */
  async passed<Result>(promise: Promise<Result>, step = 100): Promise<Result> {
    let isDone = false;
    const done = () => {
      isDone = true;
    };
    promise.then(done, done);
    await this.pass(() => isDone, step);
    return promise;
  }

  async close(core: Core): Promise<void> {
    this.opened.splice(this.opened.indexOf(core), 1);
    await this.passed(core.close());
  }

  async closeAll(): Promise<void> {
    this.opened.length = 0;
    await this.passed(this.cores.closeAll());
  }

  capacities(): number[] {
    const lane = 'Mobicom';
    return this.opened.map(
      ({ heartbeat }) =>
        heartbeat.connections.filter((one) => one.lane === lane && one.state === 'bound').length,
    );
  }

  send(core: Core, to: string, idempotencyKey: string | null = null) {
    return core.operations.sendSms({ caller, params: { to, text: 'Hi' }, idempotencyKey });
  }

  async sendBatch(core: Core, to: string[], idempotencyKey: string | null = null): Promise<string> {
    const call = { caller, params: { to, text: 'Hi' }, idempotencyKey };
    return ((await core.operations.sendSmsBulk(call)).body as { id: string }).id;
  }

  async messagesOf(core: Core, batch: string): Promise<Message[]> {
    return (await core.operations.listBatchMessages(caller, batch, { limit: 1_000, after: null })).data;
  }

  async completed(core: Core, ...batches: string[]): Promise<number> {
    return this.pass(async () => {
      for (const batch of batches)
        if ((await core.operations.getBatch(caller, batch)).status !== 'completed') return false;
      return true;
    }, 2_000);
  }
}

/** A store that can be cut off, as a whole or for some methods, or slow. */
export class StoreCut {
  isAway = false;
  /** Before each call. */
  delay: () => Promise<void> = async () => {};
  readonly #methods: readonly (keyof Store)[] | null;

  constructor(...methods: (keyof Store)[]) {
    this.#methods = methods.length === 0 ? null : methods;
  }

  readonly doubles: CoreDoubles = {
    store: (store) =>
      new Proxy(store, {
        get: (target, name) => {
          const method = Reflect.get(target, name);
          if (this.#methods?.includes(name as keyof Store) === false) return method;
          return async (...args: unknown[]) => {
            if (this.isAway) throw new Error('the store is away');
            await this.delay();
            return method.apply(target, args);
          };
        },
      }),
  };
}

export const numbersFrom = (first: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${99_000_000 + first + index}`);
