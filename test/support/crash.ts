import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Carrier } from '../../src/service/carriers/carrier.js';
import type { Core, CoreDoubles } from '../../src/service/core.js';
import type { Store } from '../../src/service/storage/store.js';

/** Where a process dies: before or after the n-th call of a method of its store or carrier. */
export interface CrashPoint {
  when: 'before' | 'after';
  method: keyof Store | keyof Carrier;
  /** 1 for the first call. */
  call: number;
}

/** Before and after each of these calls of these methods. */
export const crashPoints = (methods: readonly CrashPoint['method'][], calls = [1, 2, 3]): CrashPoint[] =>
  methods.flatMap((method) =>
    calls.flatMap((call) => (['before', 'after'] as const).map((when) => ({ when, method, call }))),
  );

/**
 * Closes the files of databases that were closed: SQLite keeps them open until the garbage collector has taken
 * their prepared statements, which nothing else can end.
 */
export const collectGarbage: () => void = (() => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
})();

/**
 * Makes a service die at a point: from then on nothing it asks of its store or carrier happens or is
 * answered, as after `kill -9`. What was committed stays.
 */
export class Crash {
  readonly happened: Promise<void>;
  readonly #point: CrashPoint | null;
  #calls = 0;
  #dead = false;
  #tell: () => void = () => {};

  constructor(point: CrashPoint | null = null) {
    this.#point = point;
    this.happened = new Promise((resolve) => {
      this.#tell = resolve;
    });
  }

  readonly doubles: CoreDoubles = {
    store: (store) => this.#mortal(store),
    carrier: (carrier) => this.#mortal(carrier),
  };

  /** Closes the files that the death of a process would have closed. */
  async bury({ storage, carrier }: Core): Promise<void> {
    await Promise.all([storage.close(), carrier.outbox.close()]);
  }

  now(): void {
    this.#dead = true;
    this.#tell();
  }

  #mortal<Part extends object>(part: Part): Part {
    return new Proxy(part, {
      get: (target, name) => {
        const method = Reflect.get(target, name);
        if (typeof method !== 'function' || name === 'capacity') return method;
        return (...args: unknown[]) => this.#call(String(name), () => method.apply(target, args));
      },
    });
  }

  async #call(name: string, work: () => Promise<unknown>): Promise<unknown> {
    const here = this.#point?.method === name && ++this.#calls === this.#point.call;
    if (here && this.#point?.when === 'before') this.now();
    if (this.#dead) return never();
    const result = await work();
    if (here) this.now();
    return this.#dead ? never() : result;
  }
}

/** One for each call: a shared promise would keep everything that ever waited for it in memory. */
const never = () => new Promise<never>(() => {});
