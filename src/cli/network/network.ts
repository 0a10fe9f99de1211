import { type ConnectFailure, connectFailure } from '../../client/connect.js';
import type { SendFrozen } from '../../client/frozen.js';
import type { FetchLike, Urtuu, UrtuuOptions } from '../../client/index.js';
import type { RequestSender } from '../../client/request.js';
import type {
  Administration,
  Fault,
  OpenedAdministration,
  Service,
  ServiceOptions,
} from '../../service/index.js';
import type { Config } from '../config/config.js';
import { sandboxDirectory } from '../config/folders.js';
import { readKey } from '../config/key.js';
import { usageError } from '../errors.js';
import type { Files } from '../files/files.js';
import { once } from '../once.js';
import type { GlobalOptions } from '../options.js';
import type { ProcessEnvironment } from '../process-environment.js';
import type { RateLimiter } from '../rate-limit/rate-limiter.js';
import { embeddedFetch } from './embedded-fetch.js';
import { type Exchange, isAccepted, isInDoubt } from './exchange.js';
import {
  configurationError,
  loadService,
  openAdministration,
  openerOf,
  openService,
  type ServiceFiles,
  useFiles,
} from './open-service.js';
import type { RawAnswer } from './raw.js';

/** The way to the service, over the network or to the embedded one. Everything is opened when first needed. */
export interface Network {
  /** The client for the profile, or for the embedded service with --sandbox. Throws CliError without a key. */
  client(): Promise<Urtuu>;
  /** A client whose caller takes a token of the rate limiter before each request; `send` sends frozen bodies. */
  unlimitedClient(): Promise<{ client: Urtuu; send: SendFrozen; limiter: RateLimiter }>;
  /** Makes raw requests with the key of the profile, and keeps the newest answer. */
  rawSender(headers: Readonly<Record<string, string>>): Promise<RawSender>;
  /** A client with another key, for another base URL. */
  clientWith(key: string, baseUrl: string, allowHttp: boolean): Promise<Urtuu>;
  /** The API key; null with --sandbox. Throws CliError when there is none. */
  apiKey(): Promise<string | null>;
  /** The embedded service of --sandbox, or the one in `directory`; opened once, closed at the end. */
  service(directory?: string, options?: OpenOptions): Promise<Service>;
  /** The service on a database; opened once, closed at the end. Rejects with the error of its driver. */
  serviceOn(options: DatabaseOptions): Promise<Service>;
  /** For the owner of a service that may run: dispatches and makes nothing; opened once, closed at the end. */
  administration(
    data: { directory: string } | Pick<DatabaseOptions, 'url' | 'secret'>,
    report?: (fault: Fault) => void,
  ): Promise<Administration>;
  /** Uses the data of a service without opening it. Throws CliError for data that cannot be used. */
  files<Result>(use: (service: ServiceFiles) => Promise<Result>): Promise<Result>;
  /** Uses the carriers of a configuration. Throws CliError (exit 13) for one that breaks a rule. */
  carriers<Result>(use: (service: CarrierTools) => Promise<Result>): Promise<Result>;
  /** The status of a URL, or why there is none within 3 s. */
  answerOf(url: string): Promise<number | ConnectFailure>;
  /** Whether a message went to the embedded service. */
  readonly sentToSandbox: boolean;
  /** Calls `listener` after every HTTP exchange; the returned function ends that. */
  onExchange(listener: (exchange: Exchange) => void): () => void;
  /** The newest exchange that has ended. */
  readonly lastExchange: Exchange | null;
  /** At least 0 and below 1: spreads retries out. */
  random(): number;
}

/** What a configuration can be tried with. */
type CarrierTools = Pick<Awaited<ReturnType<typeof loadService>>, 'checkConfiguration' | 'tryRoute'>;
export type OpenOptions = Pick<ServiceOptions, 'acceptData' | 'configuration' | 'metrics'>;
export type DatabaseOptions = { url: string; secret: Uint8Array } & Pick<
  ServiceOptions,
  'configuration' | 'metrics'
>;

export interface RawSender {
  send: RequestSender;
  newest(): RawAnswer | null;
}

/** A network and what only `application` may do with it. */
export interface OwnedNetwork extends Network {
  /**
   * A posted request whose outcome nobody knows: under way, in doubt and perhaps about to be tried again, or, of a
   * command that makes one, answered and not shown yet.
   */
  readonly pendingSend: Exchange | null;
  /** The person has seen the answer to the send. */
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

/** Paths that send messages, verification codes included. */
const sendPaths = /\/v1\/(?:(?:sms|email)(?:\/bulk)?|verify)$/;

/** For `--verbose` only: nothing listens there. */
const sandboxUrl = 'http://sandbox/v1';

/** How long a sandbox command waits at its end for queued messages. */
const endWithin = 5_000;

export function openNetwork(needs: Needs): OwnedNetwork {
  const { environment, config } = needs;
  let sentToSandbox = false;
  const listeners = new Set<(exchange: Exchange) => void>();
  const underway = new Set<Exchange>();
  /** Exchanges without a known outcome, by idempotency key. */
  const doubtful = new Map<string | null, Exchange>();
  let last: Exchange | null = null;
  const services = new Map<string, Promise<Service>>();

  const service = async (named?: string, given: OpenOptions = {}): Promise<Service> => {
    const directory = named ?? sandboxDirectory(config.stateDirectory);
    const serviceOptions = { ...given, directory, report: needs.report };
    const opened = services.get(directory) ?? openService(environment, serviceOptions, named === undefined);
    services.set(directory, opened);
    opened.catch(() => services.delete(directory));
    return opened;
  };
  const serviceOn: Network['serviceOn'] = async ({ url, ...given }) => {
    const open = await openerOf(environment);
    const opened = services.get(url) ?? open({ database: url, ...given, report: needs.report });
    services.set(url, opened);
    opened.catch(() => services.delete(url));
    return opened;
  };
  const administrations = new Map<string, Promise<OpenedAdministration>>();
  const administration: Network['administration'] = async (data, report = needs.report) => {
    const name = 'url' in data ? data.url : data.directory;
    const opened = administrations.get(name) ?? openAdministration(environment, data, report);
    administrations.set(name, opened);
    return (await opened).administration;
  };
  const began = (exchange: Exchange, single: boolean) => {
    underway.add(exchange);
    // The client takes a new key only after an answer has ended the old one.
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
  };

  const limiters: RateLimiter[] = [];
  const connect = async (key: string, baseUrl: string, allowHttp: boolean, given?: FetchLike) => {
    const { openRateLimiter, limitedClient } = await import('../rate-limit/limited-client.js');
    const { Urtuu } = await import('../../client/index.js');
    const { redactorOf } = await import('../../client/secret.js');
    const { observed, summaryOf } = await import('./observe.js');
    const fetch =
      given ?? environment.fetch ?? (await import('./fetch.js')).fetchFor(baseUrl, environment.env);
    // The embedded service has another key in every process.
    const state = given === undefined ? () => config.stateDirectory : null;
    const limiter = openRateLimiter(
      { clock: environment.clock, state, waiting: needs.waiting },
      baseUrl,
      key,
    );
    limiters.push(limiter);
    const { timeout, maxRetries } = needs.options();
    /** `single`: for a client that makes one send at a time. */
    const settingsFor = (single: boolean): UrtuuOptions => ({
      baseUrl,
      allowHttp,
      fetch: observed(fetch, { baseUrl, redactor: redactorOf(key) }, () => environment.clock.elapsed(), {
        began: (exchange) => began(exchange, single),
        ended(exchange) {
          limiter.ended(exchange.kind, exchange.status, exchange.rate?.remaining ?? null);
          ended(exchange, single);
          if (needs.options().verbose) needs.verbose(summaryOf(exchange));
          for (const listener of listeners) listener(exchange);
        },
      }),
      ...(timeout === undefined ? {} : { timeout }),
      ...(maxRetries === undefined ? {} : { maxRetries }),
    });
    const limited = limitedClient(key, settingsFor(true), limiter, needs.signal);
    const unlimited = async () => {
      const { createSendFrozen } = await import('../../client/frozen.js');
      const settings = settingsFor(false);
      return { client: new Urtuu(key, settings), send: createSendFrozen(key, settings), limiter };
    };
    const raw = async (headers: Readonly<Record<string, string>>): Promise<RawSender> => {
      const [{ recorded }, { createRequestSender }, { readApiKey, readOptions }, { limitedSystem }] =
        await Promise.all([
          import('./raw.js'),
          import('../../client/request.js'),
          import('../../client/options.js'),
          import('../rate-limit/limited-client.js'),
        ]);
      const settings = settingsFor(true);
      const recording = recorded(settings.fetch as FetchLike, headers, redactorOf(key));
      const options = readOptions({ ...settings, fetch: recording.fetch });
      const send = createRequestSender(readApiKey(key), options, limitedSystem(limiter, needs.signal));
      return { send, newest: recording.newest };
    };
    return { limited, unlimited, raw };
  };
  // Once: the key may come from standard input, or from a command that prompts.
  const key = once(async () => readKey((await config.settings()).key, needs.files, environment.platform));
  const connection = once(async () => {
    if (config.sandbox) {
      if (needs.options().baseUrl !== undefined)
        throw usageError(
          '--sandbox and --base-url exclude each other',
          'The embedded service has no base URL.',
        );
      const embedded = await service();
      return connect(embedded.localKey, sandboxUrl, true, embeddedFetch(embedded));
    }
    const { baseUrl, allowHttp } = await config.settings();
    return connect(await key(), baseUrl, allowHttp);
  });

  return {
    client: async () => (await connection()).limited,
    unlimitedClient: async () => (await connection()).unlimited(),
    rawSender: async (headers) => (await connection()).raw(headers),
    clientWith: async (key, baseUrl, allowHttp) => (await connect(key, baseUrl, allowHttp)).limited,
    apiKey: async () => (config.sandbox ? null : key()),
    random: () => environment.random(),
    get sentToSandbox() {
      return sentToSandbox;
    },
    service,
    serviceOn,
    administration,
    files: (use) => useFiles(environment, use),
    async carriers(use) {
      try {
        return await use(await loadService());
      } catch (error) {
        throw (await configurationError(environment, error)) ?? error;
      }
    },
    async answerOf(url) {
      const fetch = environment.fetch ?? (await import('./fetch.js')).fetchFor(url, environment.env);
      const signal = AbortSignal.timeout(3_000);
      return fetch(url, { method: 'GET', headers: {}, redirect: 'manual', signal }).then(
        ({ status }) => status,
        (error) => connectFailure(error) ?? { code: null, reason: 'no answer' },
      );
    },
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
      for (const opened of administrations.values()) await (await opened.catch(() => null))?.close();
      for (const opened of services.values()) {
        const embedded = await opened.catch(() => null);
        if (embedded === null) continue;
        if (last !== null) {
          await Promise.race([embedded.administration.settled(), environment.clock.sleep(endWithin)]);
        }
        await embedded.close();
      }
    },
  };
}
