import type { SendFrozen } from '../../client/frozen.js';
import type { FetchLike, Urtuu } from '../../client/index.js';
import type { ConnectFailure } from '../../client/transport/connect.js';
import type { Administration, Fault, Service } from '../../service/index.js';
import type { Config } from '../config/config.js';
import { sandboxDirectory } from '../config/folders.js';
import { readKey } from '../config/key.js';
import { usageError } from '../errors.js';
import type { Files } from '../files/files.js';
import { once } from '../once.js';
import type { RateLimiter } from '../rate-limit/rate-limiter.js';
import {
  type Connection,
  type ConnectionParts,
  connect,
  type Destination,
  type RawSender,
} from './connection.js';
import { embeddedFetch } from './embedded-fetch.js';
import type { Exchange } from './exchange.js';
import { Exchanges } from './exchanges.js';
import { configurationError, loadService, type ServiceFiles, useFiles } from './open-service.js';
import { type DatabaseOptions, type OpenOptions, Services } from './services.js';

/** Access to the service, over the network or embedded. Everything is opened when first needed. */
export interface Network {
  /** The client for the profile, or for the embedded service with --sandbox. Throws CliError without a key. */
  client(): Promise<Urtuu>;
  /** A client whose caller takes a token from the rate limiter before each request; `send` sends frozen bodies. */
  unlimitedClient(): Promise<{ client: Urtuu; send: SendFrozen; limiter: RateLimiter }>;
  /** Sends a frozen body as `client` sends. */
  frozenSend(): Promise<SendFrozen>;
  /** Makes raw requests with the profile's key, and keeps the last answer. */
  rawSender(headers: Readonly<Record<string, string>>): Promise<RawSender>;
  /** A client with another key and base URL. */
  clientWith(key: string, baseUrl: string, allowHttp: boolean): Promise<Urtuu>;
  /** The API key; null with --sandbox. Throws CliError if there is none. */
  apiKey(): Promise<string | null>;
  /** The embedded service of --sandbox, or the one in `directory`; opened once, closed at the end. */
  service(directory?: string, options?: OpenOptions): Promise<Service>;
  /** The service on a database; opened once, closed at the end. Rejects with its driver's error. */
  serviceOn(options: DatabaseOptions): Promise<Service>;
  /** For the owner of a service that may be running: dispatches and creates nothing; opened once, closed at the end. */
  administration(
    data: { directory: string } | Pick<DatabaseOptions, 'url' | 'schema' | 'secret'>,
    report?: (fault: Fault) => void,
  ): Promise<Administration>;
  /** Uses the data of a service without opening it. Throws CliError for unusable data. */
  files<Result>(use: (service: ServiceFiles) => Promise<Result>): Promise<Result>;
  /** Uses the carriers of a configuration. Throws CliError (exit 13) for an invalid one. */
  carriers<Result>(use: (service: CarrierTools) => Promise<Result>): Promise<Result>;
  /** For requests to another program, through the proxies of this machine. Throws CliError (exit 2) for an unusable one. */
  fetchFor(url: string): Promise<FetchLike>;
  /** The status of a URL, or why there is none within 3 s. */
  answerOf(url: string): Promise<number | ConnectFailure>;
  /** Whether a message went to the embedded service. */
  readonly sentToSandbox: boolean;
  /** Makes one send, and tells how it was answered. Rejects if the send does. */
  send<Result>(send: () => Promise<Result>): Promise<SendAnswer<Result>>;
  /** Calls `listener` after every HTTP exchange; the returned function stops this. */
  onExchange(listener: (exchange: Exchange) => void): () => void;
  /** The last finished exchange. */
  readonly lastExchange: Exchange | null;
  /** At least 0 and below 1: spreads retries out. */
  random(): number;
}

/** What a configuration can be tried with. */
type CarrierTools = Pick<
  Awaited<ReturnType<typeof loadService>>,
  'checkConfiguration' | 'tryRoute' | 'warningsOf'
>;

export interface SendAnswer<Result> {
  result: Result;
  /** Whether the answer is the one to an earlier request with the same key. */
  replayed: boolean;
  /** Its requests that were sent. */
  attempts: number;
}

/** A network, with what only `application` may use. */
export interface OwnedNetwork extends Network {
  /** A POST whose outcome is unknown, or was not shown yet. */
  readonly pendingSend: Exchange | null;
  /** Called when the answer to the send was shown. */
  shown(): void;
  close(): Promise<void>;
}

interface Needs extends Pick<ConnectionParts, 'environment' | 'options' | 'signal' | 'verbose' | 'waiting'> {
  config: Config;
  files: Files;
  /** Called before the first message goes to the embedded service. */
  firstSandboxSend(): void;
  /** Called for unexpected errors inside the embedded service. */
  report(fault: Fault): void;
}

/** Paths that send messages, verification codes included. */
const sendPaths = /\/v1\/(?:(?:sms|email)(?:\/bulk)?|verify)$/;

/** For `--verbose` only: nothing listens there. */
const sandboxUrl = 'http://sandbox/v1';

export function openNetwork(needs: Needs): OwnedNetwork {
  const { environment, config } = needs;
  const exchanges = new Exchanges();
  const services = new Services(environment, needs.report);
  const connections: Connection[] = [];
  let sentToSandbox = false;

  const parts: ConnectionParts = {
    ...needs,
    stateDirectory: () => config.stateDirectory,
    began(exchange, single) {
      exchanges.began(exchange, single);
      const isSend = exchange.kind === 'sending' && sendPaths.test(exchange.url);
      if (sentToSandbox || !isSend || !config.sandbox) return;
      sentToSandbox = true;
      needs.firstSandboxSend();
    },
    ended: (exchange, single) => exchanges.ended(exchange, single),
  };
  const open = async (destination: Destination): Promise<Connection> => {
    const connection = await connect(parts, destination);
    connections.push(connection);
    return connection;
  };
  const service: Network['service'] = async (directory, options = {}) =>
    services.in(directory ?? sandboxDirectory(config.stateDirectory), directory === undefined, options);
  // Only once: the key may come from standard input, or from a command that prompts.
  const key = once(async () => readKey((await config.settings()).key, needs.files, environment.platform));
  const connection = once(async () => {
    if (config.sandbox) {
      if (needs.options().baseUrl !== undefined)
        throw usageError(
          '--sandbox and --base-url cannot be combined',
          'The embedded service has no base URL.',
        );
      const embedded = await service();
      const fetch = embeddedFetch(embedded);
      return open({ key: embedded.localKey, baseUrl: sandboxUrl, allowHttp: true, fetch });
    }
    const { baseUrl, allowHttp } = await config.settings();
    return open({ key: await key(), baseUrl, allowHttp });
  });

  const fetchFor: Network['fetchFor'] = async (url) =>
    environment.fetch ?? (await import('./fetch.js')).fetchFor(url, environment.env);

  return {
    client: async () => (await connection()).client,
    unlimitedClient: async () => (await connection()).unlimited(),
    frozenSend: async () => (await connection()).frozen(),
    rawSender: async (headers) => (await connection()).raw(headers),
    clientWith: async (key, baseUrl, allowHttp) => (await open({ key, baseUrl, allowHttp })).client,
    apiKey: async () => (config.sandbox ? null : key()),
    random: () => environment.random(),
    get sentToSandbox() {
      return sentToSandbox;
    },
    service,
    serviceOn: (options) => services.on(options),
    administration: (data, report) => services.administration(data, report),
    files: (use) => useFiles(environment, use),
    async carriers(use) {
      try {
        return await use(await loadService());
      } catch (error) {
        throw (await configurationError(environment, error)) ?? error;
      }
    },
    fetchFor,
    async answerOf(url) {
      const fetch = await fetchFor(url);
      const signal = AbortSignal.timeout(3_000);
      try {
        return (await fetch(url, { method: 'GET', headers: {}, redirect: 'manual', signal })).status;
      } catch (error) {
        const { connectFailure } = await import('../../client/transport/connect.js');
        return connectFailure(error) ?? { code: null, reason: 'no answer' };
      }
    },
    async send(send) {
      let attempts = 0;
      const stopCounting = exchanges.onEnded(({ kind, requestSent }) => {
        if (kind === 'sending' && requestSent) attempts += 1;
      });
      try {
        const result = await send();
        return { result, replayed: exchanges.last?.replayed === true, attempts };
      } finally {
        stopCounting();
      }
    },
    onExchange: (listener) => exchanges.onEnded(listener),
    get lastExchange() {
      return exchanges.last;
    },
    get pendingSend() {
      return exchanges.pendingSend;
    },
    shown: () => exchanges.shown(),
    async close() {
      for (const each of connections) each.close();
      await services.close(exchanges.last !== null);
    },
  };
}
