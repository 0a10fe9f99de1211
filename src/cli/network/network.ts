import { join } from 'node:path';
import { inDoubtAfter } from '../../client/doubt.js';
import type { FetchLike, Urtuu, UrtuuOptions } from '../../client/index.js';
import { redactorOf } from '../../client/secret.js';
import type { DataError, Fault, Service, ServiceOptions } from '../../service/index.js';
import type { Config } from '../config/config.js';
import { stateHint } from '../config/folders.js';
import { readKey } from '../config/key.js';
import { CliError, machineError, usageError } from '../errors.js';
import { exits } from '../exit-codes.js';
import type { Files } from '../files/files.js';
import { once } from '../once.js';
import type { GlobalOptions } from '../options.js';
import type { ProcessEnvironment } from '../process-environment.js';
import type { RateLimiter } from '../rate-limit/rate-limiter.js';
import { embeddedFetch } from './embedded-fetch.js';
import { type Exchange, isAccepted, observed, redactedBody } from './exchange.js';

/** The way to the service, over the network or to the embedded one. Everything is opened when first needed. */
export interface Network {
  /** The client for the profile, or for the embedded service with --sandbox. Throws CliError without a key. */
  client(): Promise<Urtuu>;
  /** A client that leaves it to its caller to take a token of the rate limiter before each request. */
  unlimitedClient(): Promise<{ client: Urtuu; limiter: RateLimiter }>;
  /** A client with another key, for another base URL. */
  clientWith(key: string, baseUrl: string, allowHttp: boolean): Promise<Urtuu>;
  /** The API key; null with --sandbox. Throws CliError when there is none. */
  apiKey(): Promise<string | null>;
  /** The embedded service of --sandbox, or the one in `directory`; opened once, closed at the end. */
  service(directory?: string, options?: { acceptData?: boolean }): Promise<Service>;
  /** Whether a message went to the embedded service. */
  readonly sentToSandbox: boolean;
  /** Calls `listener` after every HTTP exchange; the returned function ends that. */
  onExchange(listener: (exchange: Exchange) => void): () => void;
  /** The newest exchange that has ended. */
  readonly lastExchange: Exchange | null;
  /** At least 0 and below 1: spreads retries out. */
  random(): number;
}

/** A network and what only `application` may do with it. */
export interface OwnedNetwork extends Network {
  /**
   * A posted request whose outcome nobody knows: under way, in doubt and perhaps about to be tried again, or, of a
   * command that makes one, answered and not shown yet.
   */
  readonly pendingSend: Exchange | null;
  /** The person has seen the answer to what was posted. */
  shown(): void;
  close(): Promise<void>;
}

interface Needs {
  environment: ProcessEnvironment;
  /** Called late, after the command line has been parsed. */
  options(): GlobalOptions;
  config: Config;
  files: Files;
  verbose(line: string): void;
  /** Called for a wait of over a second for the rate limit; in milliseconds. */
  waiting(milliseconds: number): void;
  signal(): AbortSignal;
  /** Called before the first message goes to the embedded service. */
  firstSandboxSend(): void;
  /** Called for unexpected errors inside the embedded service. */
  report(fault: Fault): void;
}

/** Where messages are sent, codes too. */
const sendPaths = /\/v1\/(?:(?:sms|email)(?:\/bulk)?|verify)$/;

/** What `--verbose` shows; nothing is looked up or listens there. */
const sandboxUrl = 'http://sandbox/v1';

/** How long a sandbox command waits at its end for messages on their way. */
const settleWithin = 5_000;

export function openNetwork(needs: Needs): OwnedNetwork {
  const { environment, config } = needs;
  let sentToSandbox = false;
  const listeners = new Set<(exchange: Exchange) => void>();
  const underway = new Set<Exchange>();
  /** What no answer has settled yet, by idempotency key. */
  const doubtful = new Map<string | null, Exchange>();
  let last: Exchange | null = null;
  const services = new Map<string, Promise<Service>>();

  const service = async (named?: string, given: { acceptData?: boolean } = {}): Promise<Service> => {
    const directory = named ?? join(config.stateDirectory, 'sandbox');
    const serviceOptions = { ...given, directory, report: needs.report };
    const opened = services.get(directory) ?? openService(environment, serviceOptions, named === undefined);
    services.set(directory, opened);
    opened.catch(() => services.delete(directory));
    return opened;
  };
  const began = (exchange: Exchange, single: boolean) => {
    underway.add(exchange);
    // The client takes a new key only where the answer under the old one has settled that.
    if (single && exchange.kind === 'sending' && !doubtful.has(exchange.idempotencyKey)) doubtful.clear();
    if (sentToSandbox || !sendPaths.test(exchange.url) || exchange.kind !== 'sending' || !config.sandbox)
      return;
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
    if (needs.options().verbose) needs.verbose(described(exchange));
    for (const listener of listeners) listener(exchange);
  };

  const limiters: RateLimiter[] = [];
  const connect = async (key: string, baseUrl: string, allowHttp: boolean, given?: FetchLike) => {
    const { openRateLimiter, limitedClient } = await import('../rate-limit/limited-client.js');
    const { Urtuu } = await import('../../client/index.js');
    const fetch = given ?? environment.fetch ?? (await import('./fetch.js')).nodeFetch(environment.env);
    const limiter = openRateLimiter(
      { clock: environment.clock, state: () => config.stateDirectory, waiting: needs.waiting },
      baseUrl,
      key,
    );
    limiters.push(limiter);
    const { timeout, maxRetries } = needs.options();
    /** `single`: of a client that makes one send at a time, for one command. */
    const settingsFor = (single: boolean): UrtuuOptions => ({
      baseUrl,
      allowHttp,
      fetch: observed(fetch, { baseUrl, redactor: redactorOf(key) }, () => environment.clock.elapsed(), {
        began: (exchange) => began(exchange, single),
        ended(exchange) {
          limiter.ended(exchange.kind, exchange.status, exchange.rate?.remaining ?? null);
          ended(exchange, single);
        },
      }),
      ...(timeout === undefined ? {} : { timeout }),
      ...(maxRetries === undefined ? {} : { maxRetries }),
    });
    const limited = limitedClient(key, settingsFor(true), limiter, needs.signal);
    return { limited, limiter, unlimited: () => new Urtuu(key, settingsFor(false)) };
  };
  // A key may come from standard input, or from a command that asks for something: it is read once.
  const key = once(async () => readKey((await config.settings()).key, needs.files, environment.platform));
  const connection = once(async () => {
    if (config.sandbox) {
      if (needs.options().baseUrl !== undefined)
        throw usageError(
          '--sandbox and --base-url exclude each other',
          'The embedded service has no address.',
        );
      const embedded = await service();
      // Its address is a name only: nothing goes over a network.
      return connect(embedded.localKey, sandboxUrl, true, embeddedFetch(embedded));
    }
    const { baseUrl, allowHttp } = await config.settings();
    return connect(await key(), baseUrl, allowHttp);
  });

  return {
    client: async () => (await connection()).limited,
    async unlimitedClient() {
      const { limiter, unlimited } = await connection();
      return { client: unlimited(), limiter };
    },
    clientWith: async (key, baseUrl, allowHttp) => (await connect(key, baseUrl, allowHttp)).limited,
    apiKey: async () => (config.sandbox ? null : key()),
    random: () => environment.random(),
    get sentToSandbox() {
      return sentToSandbox;
    },
    service,
    onExchange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    get lastExchange() {
      return last;
    },
    get pendingSend() {
      return [...underway].find(({ kind }) => kind === 'sending') ?? [...doubtful.values()].at(-1) ?? null;
    },
    shown() {
      for (const [key, exchange] of doubtful) if (isAccepted(exchange)) doubtful.delete(key);
    },
    async close() {
      for (const limiter of limiters) limiter.close();
      for (const opened of services.values()) {
        const embedded = await opened.catch(() => null);
        if (embedded === null) continue;
        if (last !== null) {
          await Promise.race([embedded.administration.settled(), environment.clock.sleep(settleWithin)]);
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

async function openService(
  environment: ProcessEnvironment,
  options: ServiceOptions,
  isSandbox: boolean,
): Promise<Service> {
  const open = environment.openService ?? (await import('../../service/index.js')).createService;
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
