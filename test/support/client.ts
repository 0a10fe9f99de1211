import { Urtuu, type UrtuuError, type UrtuuOptions } from '../../src/client/index.js';
import type { System } from '../../src/client/system.js';
import { batchResult, pricing, smsResult, verificationResult } from './resources.js';

export const apiKey = `urtuu_${'k'.repeat(40)}`;

/**
 * Time that stands still: sleeps are recorded and end at once, an attempt runs out of time when a test says so.
 * Keys are `key-1`, `key-2` ...
 */
export class FakeSystem implements System {
  readonly slept: number[] = [];
  readonly #timers = new Set<() => void>();
  #keys = 0;
  time = Date.UTC(2030, 0, 1);

  now = () => this.time;
  elapsed = () => this.time;
  random = () => 1;
  newIdempotencyKey = () => `key-${++this.#keys}`;

  after(_milliseconds: number, run: () => void): () => void {
    this.#timers.add(run);
    return () => this.#timers.delete(run);
  }

  async sleep(milliseconds: number, _signal: AbortSignal | null): Promise<void> {
    this.slept.push(milliseconds);
  }

  /** Attempts whose time is still running. */
  get running(): number {
    return this.#timers.size;
  }

  /** Every attempt runs out of time. */
  expire(): void {
    const timers = [...this.#timers];
    this.#timers.clear();
    for (const run of timers) run();
  }
}

/** A client with its time and randomness given, through the door that the published types do not show. */
export function clientWith(options: UrtuuOptions, system: System = new FakeSystem()): Urtuu {
  const Client = Urtuu as unknown as new (key: string, options: UrtuuOptions, system: System) => Urtuu;
  return new Client(apiKey, options, system);
}

/** The error a call ends with; a call that ends well fails the test. */
export async function failureOf(call: Promise<unknown>): Promise<UrtuuError> {
  const outcome = await call.then(
    (result) => ({ result }),
    (error: UrtuuError) => error,
  );
  if ('result' in outcome) throw new Error(`the call gave ${JSON.stringify(outcome.result)}`);
  return outcome;
}

/** An answer of the service that proves the success of any method, by the path it was asked for. */
export function resultOf(path: string): Record<string, unknown> {
  const checked = /\/verify\/([^/]+)\/check$/.exec(path)?.[1];
  return {
    ...batchResult(),
    ...(checked === undefined
      ? smsResult()
      : verificationResult({ id: decodeURIComponent(checked), status: 'verified' })),
    ...pricing,
    data: [],
    next: /\/events(?:\?|$)/.test(path) ? 'a00000000001-0' : null,
  };
}
