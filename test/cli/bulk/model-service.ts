import type { SendingClient } from '../../../src/cli/bulk/send/send-once.js';

export class Refused extends Error {
  readonly retryAfter: number | null = null;
  constructor(
    readonly code: string,
    readonly status: number | null,
    fields: Record<string, unknown> = {},
  ) {
    super(code);
    Object.assign(this, fields);
  }
}

export interface ModelOptions {
  /** Whether refusals are bound to idempotency keys. */
  binding: boolean;
  credits: number;
  /** Recipients that are refused, and singles that the operator does not take. */
  unsupported?: ReadonlySet<string>;
  failing?: ReadonlySet<string>;
  /** Recipients over their cap for the first so many tries. */
  capped?: Map<string, number>;
}

type Outcome = { result: object } | { refusal: [string, number, Record<string, unknown>] };

/** The service as the interface describes it, in memory: what was accepted, and what keys are bound to. */
export class ModelService {
  readonly accepted = new Map<string, number>();
  readonly keys: string[] = [];
  balance: number;
  readonly #options: ModelOptions;
  readonly #bound = new Map<string, Outcome>();
  #ids = 0;

  constructor(options: ModelOptions) {
    this.#options = options;
    this.balance = options.credits;
  }

  /** What the service answers; throws `Refused`. */
  handle(params: unknown, key: string): object {
    const outcome = this.#bound.get(key) ?? this.#decide(params as { to: string | string[] });
    const binds = 'result' in outcome || this.#options.binding || outcome.refusal[0] === 'provider_failed';
    const transient = 'refusal' in outcome && outcome.refusal[0] === 'recipient_rate_limited';
    if (binds && !transient) this.#bound.set(key, outcome);
    if ('result' in outcome) return outcome.result;
    throw new Refused(...outcome.refusal);
  }

  #decide({ to }: { to: string | string[] }): Outcome {
    const all = Array.isArray(to) ? to : [to];
    const { unsupported, failing, capped } = this.#options;
    const invalid = all.filter((each) => unsupported?.has(each));
    if (invalid.length > 0) {
      return Array.isArray(to)
        ? { refusal: ['invalid_request', 400, { invalid: invalid.slice(0, 50) }] }
        : { refusal: ['unsupported_number', 422, {}] };
    }
    const tries = Array.isArray(to) ? 0 : (capped?.get(to) ?? 0);
    if (tries > 0) {
      capped?.set(to as string, tries - 1);
      return { refusal: ['recipient_rate_limited', 429, { retryAfter: 20 }] };
    }
    const required = all.length * 10;
    if (this.balance < required) {
      return { refusal: ['insufficient_credits', 402, { balance: this.balance, required }] };
    }
    this.#ids += 1;
    const id = `id-${this.#ids}`;
    if (!Array.isArray(to) && failing?.has(to)) return { refusal: ['provider_failed', 502, { id }] };
    this.balance -= required;
    for (const each of all) this.accepted.set(each, (this.accepted.get(each) ?? 0) + 1);
    const figures = { id, credits: required, balance: this.balance };
    return { result: Array.isArray(to) ? { ...figures, total: all.length } : { ...figures, to } };
  }
}

/** A client whose every send goes through `way`, which may lose, delay, repeat or garble it. */
export function clientOf(
  service: ModelService,
  way: (call: () => object) => Promise<object> = async (call) => call(),
): SendingClient {
  const send = (params: unknown, { idempotencyKey }: { idempotencyKey: string }) => {
    service.keys.push(idempotencyKey);
    return way(() => service.handle(params, idempotencyKey));
  };
  return {
    sms: { send, sendBulk: send },
    email: { send, sendBulk: send },
    balance: { get: () => Promise.resolve({ balance: service.balance }) },
  };
}
