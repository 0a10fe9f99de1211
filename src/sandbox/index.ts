import {
  createService,
  type Delivery,
  type Fault,
  type ManualClock,
  type SettingsPatch,
} from '../service/index.js';

export {
  type Delivery,
  type Fault,
  type FaultOnDemand,
  faultsOnDemand,
  ManualClock,
  type SettingsPatch,
} from '../service/index.js';

export interface SandboxOptions {
  /** Port on 127.0.0.1; 0, the default, takes a free one. null opens none: requests go through `fetch`. */
  port?: number | null;
  /** Stands still until `advance` moves it: for windows, expiry and holidays. The system's when absent. */
  clock?: ManualClock;
  /** Makes ids, keys and codes the same in every run. */
  seed?: string;
  /** Caps, prices, holidays, operators, sender name, over the defaults. */
  settings?: SettingsPatch;
  /** `off` lets every request pass, however many a second; `enforced` when absent. */
  rates?: 'enforced' | 'off';
  /** Keeps its data in this folder; without one it is gone after `close()`. */
  directory?: string;
  /** Told of every unexpected error, in a request (its caller got 503 `unavailable`) or in the background. */
  report?(fault: Fault): void;
}

/** The whole service in this process, for tests; nothing it sends leaves the machine. */
export interface Sandbox {
  /** Ends in `/v1`: what the client takes as `baseUrl`. Nothing answers there with `port: null`. */
  readonly url: string;
  /** An API key of it. */
  readonly key: string;
  /** The same service without a socket: what the client takes as `fetch`. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** The clock it was given. */
  readonly clock?: ManualClock;
  /**
   * What was delivered, the oldest first, as the recipient sees it. `to` is a recipient in its normal form:
   * 8 digits, or an address with its domain in lower case. `limit` keeps the newest.
   */
  outbox(filter?: { to?: string; limit?: number }): Promise<Delivery[]>;
  /** Adds credits to the 100,000 of the start (negative takes them away, never below 0); gives the balance. */
  credit(amount: number): Promise<number>;
  /** Resolves when no message is waiting that could be delivered now: emails and batches are done then. */
  settled(): Promise<void>;
  /**
   * Forgets messages, batches, outbox and idempotency keys, and restores the first balance. Sends that are under way
   * end before it; those that come meanwhile wait and come after it.
   */
  reset(): Promise<void>;
  /** Answers what has arrived, lets what is on its way end, and closes the port. */
  close(): Promise<void>;
}

/** Where a client that was not given `fetch` finds nobody, rather than a service that happens to run. */
const nowhere = 'https://sandbox.invalid/v1';

/**
 * Starts a service of its own for a test suite. Rejects when the port is taken, the SQLite engine is not
 * installed, or an option breaks a rule.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { port = 0, ...rest } = options;
  const service = await createService(rest);
  const { administration } = service;

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
    fetch: service.fetch,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    async outbox(filter) {
      const deliveries: Delivery[] = [];
      for await (const delivery of administration.outbox(filter)) deliveries.push(delivery);
      return deliveries;
    },
    credit: (amount) => administration.credit(amount),
    settled: () => administration.settled(),
    reset: () => administration.reset(),
    close: () => service.close(),
  };
}
