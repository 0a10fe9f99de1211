import { readRecord } from '../contract/index.js';
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
  /** Port on 127.0.0.1; 0, the default, picks a free one. With null nothing listens: use `fetch`. */
  port?: number | null;
  /** For tests of windows, expiry and holidays: it moves only by `advance`. Default: the system clock. */
  clock?: ManualClock;
  /** Makes codes the same in every run, and ids too with a `clock` that starts at the same time. */
  seed?: string;
  /** Caps, prices, holidays, quiet hours, operators and sender name, in place of the defaults. */
  settings?: SettingsPatch;
  /**
   * `off` disables the request rate limits; that is the default with `clock`, since a manual clock refills no token
   * bucket. Otherwise they are `enforced`.
   */
  rates?: 'enforced' | 'off';
  /** Folder for the data. Without one, `close()` discards them. */
  directory?: string;
  /** Called for every unexpected error, in a request (its caller gets 503 `unavailable`) or in the background. */
  report?(fault: Fault): void;
}

/** The whole service in this process, for tests; nothing it sends leaves the machine. */
export interface Sandbox {
  /** Ends in `/v1`: the client's `baseUrl`. Nothing answers there with `port: null`. */
  readonly url: string;
  /** A working API key, another one at each start. */
  readonly key: string;
  /** The same service without a socket, as the client's `fetch`. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** The clock from the options. */
  readonly clock?: ManualClock;
  /**
   * The deliveries as recipients see them, oldest first. Filter by recipient with `to`, in any spelling. `limit` keeps
   * the newest.
   */
  outbox(filter?: { to?: string; limit?: number }): Promise<Delivery[]>;
  /** Adds credits (a negative amount removes them, down to 0); returns the balance. It starts at 100,000. */
  credit(amount: number): Promise<number>;
  /** Resolves when no message is due or being sent, so emails and batches are finished. */
  idle(): Promise<void>;
  /**
   * Deletes messages, batches, outbox and idempotency keys, and restores the opening balance. Waits for sends in
   * progress; new ones wait for it.
   */
  reset(): Promise<void>;
  /**
   * Answers every request received, finishes messages in flight and closes the port. From then on, every call fails
   * with "the sandbox is closed".
   */
  close(): Promise<void>;
}

const names: readonly (keyof SandboxOptions)[] = [
  'port',
  'clock',
  'seed',
  'settings',
  'rates',
  'directory',
  'report',
];

/** The URL when nothing listens: a client without the sandbox's `fetch` fails, instead of reaching another service. */
const nowhere = 'https://sandbox.invalid/v1';

/** Quiet hours are stored: what decides about them is the store. */
async function openService({ settings, ...options }: Parameters<typeof createService>[0] & object) {
  const { quiet_hours, quiet_zone, ...overrides } = settings ?? {};
  const quiet = Object.entries({ quiet_hours, quiet_zone }).filter(([, value]) => value !== undefined);
  const service = await createService({ ...options, ...(settings && { settings: overrides }) });
  try {
    if (quiet.length > 0) await service.administration.settings.update(Object.fromEntries(quiet));
    return service;
  } catch (error) {
    await service.close();
    throw error;
  }
}

/**
 * Starts a new service for a test suite. Rejects if the port is in use, the SQLite engine is not installed, or an
 * option is invalid.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  readRecord(options, names);
  const { port = 0, rates = options.clock === undefined ? 'enforced' : 'off', ...rest } = options;
  const service = await openService({ ...rest, rates });
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
    idle: async () => open().administration.idle(),
    reset: async () => open().administration.reset(),
    close() {
      isClosed = true;
      return service.close();
    },
  };
}
