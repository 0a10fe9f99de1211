import { join } from 'node:path';
import { inDoubtAfter } from '../../client/doubt.js';
import type { FetchLike, Urtuu, UrtuuOptions } from '../../client/index.js';
import { redactorOf } from '../../client/secret.js';
import type { DataError, Fault, Service, ServiceOptions } from '../../service/index.js';
import { envFlag } from '../config/env-flag.js';
import { stateHint } from '../config/folders.js';
import { readKey } from '../config/key.js';
import type { Config } from '../config/profiles.js';
import { type Settings, settingsOf } from '../config/settings.js';
import { CliError, machineError, usageError } from '../errors.js';
import { exits } from '../exit-codes.js';
import type { Files } from '../files/files.js';
import type { GlobalOptions } from '../options.js';
import type { World } from '../process-environment.js';
import type { RateLimiter } from '../rate-limit/rate-limiter.js';
import { embeddedFetch } from './embedded-fetch.js';
import { type Exchange, isAccepted, observed, redactedBody } from './exchange.js';

export interface Network {
  client(): Promise<Urtuu>;
  /** The client for who takes the tokens of the rate limiter by itself, before each request. */
  unlimitedClient(): Promise<{ client: Urtuu; limiter: RateLimiter }>;
  clientWith(key: string, baseUrl: string, allowHttp: boolean): Promise<Urtuu>;
  settings(): Promise<Settings>;
  /** The API key; null for the embedded service. */
  key(): Promise<string | null>;
  /** Throws CliError where URTUU_SANDBOX is neither on nor off. */
  readonly sandbox: boolean;
  /** Whether a message went to the embedded service. */
  readonly sentToSandbox: boolean;
  service(directory?: string, options?: { acceptData?: boolean }): Promise<Service>;
  onExchange(listener: (exchange: Exchange) => void): () => void;
  /** The newest exchange that has ended. */
  last(): Exchange | null;
  /**
   * A posted request whose outcome nobody knows: under way, in doubt and perhaps about to be tried again, or, of a
   * command that makes one, answered and not shown yet.
   */
  pendingSend(): Exchange | null;
  /** The person has seen the answer to what was posted. */
  shown(): void;
  close(): Promise<void>;
}

interface Needs {
  world: World;
  options: GlobalOptions;
  /** The folder of the state; throws CliError where there is none. */
  state(): string;
  files: Files;
  readConfig(): Promise<Config>;
  verbose(line: string): void;
  /** Told of a wait for the rate limit that is over a second; in milliseconds. */
  waiting(milliseconds: number): void;
  signal(): AbortSignal;
  /** Told before the first message goes to the embedded service. */
  firstSandboxSend(): void;
  /** Told of unexpected errors inside the embedded service. */
  report(fault: Fault): void;
}

/** Where messages are sent, codes too. */
const sendPaths = /\/v1\/(?:(?:sms|email)(?:\/bulk)?|verify)$/;

/** What `--verbose` shows; nothing is looked up or listens there. */
const sandboxUrl = 'http://sandbox/v1';

/** How long a sandbox command waits at its end for messages on their way. */
const settleWithin = 5_000;

/** The way to the service: over the network, or to the embedded one. Everything is opened when first needed. */
export function openNetwork(needs: Needs): Network {
  const { world, options } = needs;
  // Asked late: a word in the environment that means nothing is an error, and errors need a network to end.
  const inSandbox = () => options.sandbox ?? envFlag(world.env, 'URTUU_SANDBOX');
  let sentToSandbox = false;
  const listeners = new Set<(exchange: Exchange) => void>();
  const underway = new Set<Exchange>();
  /** What no answer has settled yet, by idempotency key. */
  const doubtful = new Map<string | null, Exchange>();
  let last: Exchange | null = null;
  const services = new Map<string, Promise<Service>>();

  const service = async (named?: string, given: { acceptData?: boolean } = {}): Promise<Service> => {
    const directory = named ?? join(needs.state(), 'sandbox');
    const serviceOptions = { ...given, directory, report: needs.report };
    const opened = services.get(directory) ?? openService(world, serviceOptions, named === undefined);
    services.set(directory, opened);
    opened.catch(() => services.delete(directory));
    return opened;
  };
  const began = (exchange: Exchange, single: boolean) => {
    underway.add(exchange);
    // The client takes a new key only where the answer under the old one has settled that.
    if (single && exchange.kind === 'sending' && !doubtful.has(exchange.idempotencyKey)) doubtful.clear();
    if (sentToSandbox || !sendPaths.test(exchange.url) || exchange.kind !== 'sending' || !inSandbox()) return;
    sentToSandbox = true;
    needs.firstSandboxSend();
  };
  const ended = (exchange: Exchange, single: boolean) => {
    underway.delete(exchange);
    last = exchange;
    if (exchange.kind === 'sending') {
      const { idempotencyKey: key } = exchange;
      if (isAccepted(exchange) ? single : isInDoubt(exchange, doubtful.has(key))) doubtful.set(key, exchange);
      else doubtful.delete(key);
    }
    if (options.verbose) needs.verbose(described(exchange));
    for (const listener of listeners) listener(exchange);
  };

  const settings = once(async () => settingsOf(options, world.env, await needs.readConfig()));
  const limiters: RateLimiter[] = [];
  const connect = async (key: string, baseUrl: string, allowHttp: boolean, given?: FetchLike) => {
    const { openRateLimiter, limitedClient } = await import('../rate-limit/limited-client.js');
    const { Urtuu } = await import('../../client/index.js');
    const fetch = given ?? world.fetch ?? (await import('./fetch.js')).nodeFetch(world.env);
    const limiter = openRateLimiter(needs, baseUrl, key);
    limiters.push(limiter);
    /** `single`: of a client that makes one send at a time, for one command. */
    const settingsFor = (single: boolean): UrtuuOptions => ({
      baseUrl,
      allowHttp,
      fetch: observed(fetch, { baseUrl, redactor: redactorOf(key) }, () => world.clock.elapsed(), {
        began: (exchange) => began(exchange, single),
        ended(exchange) {
          limiter.ended(exchange.kind, exchange.status, exchange.rate?.remaining ?? null);
          ended(exchange, single);
        },
      }),
      ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
      ...(options.maxRetries === undefined ? {} : { maxRetries: options.maxRetries }),
    });
    const limited = limitedClient(key, settingsFor(true), limiter, needs.signal);
    return { limited, limiter, unlimited: () => new Urtuu(key, settingsFor(false)) };
  };
  // A key may come from standard input, or from a command that asks for something: it is read once.
  const key = once(async () => readKey((await settings()).key, needs.files, world.platform));
  const connection = once(async () => {
    if (inSandbox()) {
      if (options.baseUrl !== undefined)
        throw usageError(
          '--sandbox and --base-url exclude each other',
          'The embedded service has no address.',
        );
      const embedded = await service();
      // Its address is a name only: nothing goes over a network.
      return connect(embedded.localKey, sandboxUrl, true, embeddedFetch(embedded));
    }
    const { baseUrl, allowHttp } = await settings();
    return connect(await key(), baseUrl, allowHttp);
  });

  return {
    client: async () => (await connection()).limited,
    async unlimitedClient() {
      const { limiter, unlimited } = await connection();
      return { client: unlimited(), limiter };
    },
    clientWith: async (key, baseUrl, allowHttp) => (await connect(key, baseUrl, allowHttp)).limited,
    settings,
    key: async () => (inSandbox() ? null : key()),
    get sandbox() {
      return inSandbox();
    },
    get sentToSandbox() {
      return sentToSandbox;
    },
    service,
    onExchange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    last: () => last,
    pendingSend: () =>
      [...underway].find(({ kind }) => kind === 'sending') ?? [...doubtful.values()].at(-1) ?? null,
    shown() {
      for (const [key, exchange] of doubtful) if (isAccepted(exchange)) doubtful.delete(key);
    },
    async close() {
      for (const limiter of limiters) limiter.close();
      for (const opened of services.values()) {
        const embedded = await opened.catch(() => null);
        if (embedded === null) continue;
        if (last !== null) {
          await Promise.race([embedded.administration.settled(), world.clock.sleep(settleWithin)]);
        }
        await embedded.close();
      }
    },
  };
}

/** By the status alone. */
function isInDoubt({ status, requestSent, idempotencyKey }: Exchange, before: boolean): boolean {
  return inDoubtAfter(before, { code: '', status, requestSent }, idempotencyKey === null ? 'verify' : 'send');
}

async function openService(world: World, options: ServiceOptions, isSandbox: boolean): Promise<Service> {
  const open = world.openService ?? (await import('../../service/index.js')).createService;
  try {
    return await open(options);
  } catch (error) {
    if (isDataError(error)) throw refusedData(error, options.directory ?? '', isSandbox);
    throw machineError(
      `the embedded service cannot run: ${(error as Error).message}`,
      error,
      embeddedHint(error),
    );
  }
}

const isDataError = (error: unknown): error is DataError =>
  error instanceof Error && (error as Partial<DataError>).code === 'data_refused';

function refusedData(error: DataError, folder: string, isSandbox: boolean): CliError {
  const { message, hint, forgotten } = error;
  const without = isSandbox
    ? ' Or delete the folder: nothing in it was really sent.'
    : ` Or start without them: urtuu serve --data '${folder}' --accept-data`;
  return new CliError(error.code, exits.machine, message, {
    hint: forgotten === null ? hint : hint + without,
    details: forgotten === null ? {} : { forgotten },
    cause: error,
  });
}

/** The engine is an optional dependency, so it may not be there. */
function embeddedHint(error: unknown): string {
  return (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND'
    ? 'Install its engine as urtuu is installed: npm install @photostructure/sqlite, with --global if urtuu is global'
    : (stateHint(error) ?? 'It needs a folder of your own, with room in it; see: urtuu help sandbox');
}

/** The first call does the work, later ones get its result. */
function once<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let result: Promise<Value> | undefined;
  return () => {
    result ??= work();
    return result;
  };
}

function described(exchange: Exchange): string {
  const { method, url, status, milliseconds, requestId, rate, idempotencyKey, replayed, body } = exchange;
  return [
    `${method} ${url} -> ${status ?? 'no answer'} in ${Math.round(milliseconds)} ms`,
    ...(body === null ? [] : [redactedBody(body)]),
    ...(idempotencyKey === null ? [] : [`idempotency key ${idempotencyKey}`]),
    ...(replayed ? ['replayed'] : []),
    ...(requestId === null ? [] : [`request ${requestId}`]),
    ...(rate === null ? [] : [`${rate.remaining} of ${rate.limit} requests left`]),
  ].join(', ');
}
