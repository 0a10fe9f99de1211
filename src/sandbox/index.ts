import {
  createService,
  type Delivery,
  type Fault,
  type ManualClock,
  type SettingsPatch,
} from '../service/index.js';

export {
  type Delivery,
  type EmailDelivery,
  type Fault,
  type FaultOnDemand,
  faultsOnDemand,
  ManualClock,
  type SettingsPatch,
  type SmsDelivery,
} from '../service/index.js';

export interface SandboxOptions {
  /** Port on 127.0.0.1; 0, the default, picks a free one. null opens none: use `fetch`. */
  port?: number | null;
  /** Moves only by `advance`: for tests of windows, expiry and holidays. The system clock when absent. */
  clock?: ManualClock;
  /** Makes ids, keys and codes the same in every run. */
  seed?: string;
  /** Caps, prices, holidays, operators, sender name, over the defaults. */
  settings?: SettingsPatch;
  /**
   * `off` disables the request rate limits. The default is `enforced`, but `off` with `clock`: a manual
   * clock refills no token bucket.
   */
  rates?: 'enforced' | 'off';
  /** Keeps its data in this folder; without one it is gone after `close()`. */
  directory?: string;
  /** Called for every unexpected error, in a request (its caller gets 503 `unavailable`) or in the background. */
  report?(fault: Fault): void;
}

/** The whole service in this process, for tests; nothing it sends leaves the machine. */
export interface Sandbox {
  /** Ends in `/v1`: the client's `baseUrl`. Nothing answers there with `port: null`. */
  readonly url: string;
  /** A working API key. */
  readonly key: string;
  /** The same service without a socket: the client's `fetch`. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** The clock from the options. */
  readonly clock?: ManualClock;
  /**
   * The deliveries, oldest first, as the recipient sees them. `to` is a recipient in normal form: 8 digits, or an
   * address with its domain in lower case. `limit` keeps the newest.
   */
  outbox(filter?: { to?: string; limit?: number }): Promise<Delivery[]>;
  /** Adds credits to the first 100,000 (negative removes them, never below 0); returns the balance. */
  credit(amount: number): Promise<number>;
  /** Resolves when no message is due or in flight: emails and batches are done. */
  settled(): Promise<void>;
  /**
   * Deletes messages, batches, outbox and idempotency keys, and restores the opening balance. Sends in progress end
   * before it; new ones wait until it is done.
   */
  reset(): Promise<void>;
  /**
   * Answers every request received, finishes messages in flight, and closes the port. From then on every call fails with
   * "the sandbox is closed".
   */
  close(): Promise<void>;
}

/** An address without a service: a client that lacks `fetch` fails, rather than reach another service by chance. */
const nowhere = 'https://sandbox.invalid/v1';

/**
 * Starts a service of its own for a test suite. Rejects when the port is taken, the SQLite engine is not
 * installed, or an option breaks a rule.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { port = 0, rates = options.clock === undefined ? 'enforced' : 'off', ...rest } = options;
  const service = await createService({ ...rest, rates });
  let isClosed = false;
  const open = () => {
    if (isClosed) throw new Error('the sandbox is closed');
    return service;
  };

  async function listen(): Promise<string> {
    if (port === null) return nowhere;
    try {
      return (await service.listen({ port })).url;
    } catch (error) {
      await service.close();
      throw error;
    }
  }

  return {
    url: await listen(),
    key: service.localKey,
    fetch: async (input, init) => open().fetch(input, init),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    async outbox(filter) {
      const deliveries: Delivery[] = [];
      for await (const delivery of open().administration.outbox(filter)) deliveries.push(delivery);
      return deliveries;
    },
    credit: async (amount) => open().administration.credit(amount),
    settled: async () => open().administration.idle(),
    reset: async () => open().administration.reset(),
    close() {
      isClosed = true;
      return service.close();
    },
  };
}
