import type { SendFrozen } from '../../client/frozen.js';
import type { FetchLike, Urtuu, UrtuuOptions } from '../../client/index.js';
import type { RequestSender } from '../../client/transport/request.js';
import type { GlobalOptions } from '../options.js';
import type { ProcessEnvironment } from '../process-environment.js';
import type { RateLimiter } from '../rate-limit/rate-limiter.js';
import type { Exchange } from './exchange.js';
import type { RawAnswer } from './raw.js';

export interface Destination {
  key: string;
  baseUrl: string;
  allowHttp: boolean;
  /** For the embedded service, whose key differs in every process. */
  fetch?: FetchLike;
}

export interface RawSender {
  send: RequestSender;
  newest(): RawAnswer | null;
}

/** A service at one address, with one key. */
export interface Connection {
  client: Urtuu;
  /** A client whose caller takes a token from the rate limiter before each request; `send` sends frozen bodies. */
  unlimited(): Promise<{ client: Urtuu; send: SendFrozen; limiter: RateLimiter }>;
  /** Sends frozen bodies as `client` sends: one at a time, with its retries and tokens. */
  frozen(): Promise<SendFrozen>;
  raw(headers: Readonly<Record<string, string>>): Promise<RawSender>;
  close(): void;
}

export interface ConnectionParts {
  environment: ProcessEnvironment;
  /** Called late, after the command line was parsed. */
  options(): GlobalOptions;
  /** The folder of the token buckets, which the processes of this machine share. */
  stateDirectory(): string;
  signal(): AbortSignal;
  verbose(line: string): void;
  /** Called with the milliseconds of a wait of over a second for the rate limit. */
  waiting(milliseconds: number): void;
  /** `single`: from a client that makes one send at a time. */
  began(exchange: Exchange, single: boolean): void;
  ended(exchange: Exchange, single: boolean): void;
}

export async function connect(
  parts: ConnectionParts,
  { key, baseUrl, allowHttp, fetch: given }: Destination,
): Promise<Connection> {
  const { environment } = parts;
  const { openRateLimiter, limitedClient, limitedSystem } = await import('../rate-limit/limited-client.js');
  const { Urtuu } = await import('../../client/index.js');
  const { redactorOf } = await import('../../client/secret.js');
  const { observed, verboseLine } = await import('./observe.js');
  const fetch =
    given ?? environment.fetch ?? (await (await import('./fetch.js')).fetchFor(baseUrl, environment.env));
  const state = given === undefined ? () => parts.stateDirectory() : null;
  const limiter = openRateLimiter({ clock: environment.clock, state, waiting: parts.waiting }, baseUrl, key);
  const { timeout, maxRetries } = parts.options();
  const settingsFor = (single: boolean): UrtuuOptions => ({
    baseUrl,
    allowHttp,
    fetch: observed(fetch, { baseUrl, redactor: redactorOf(key) }, () => environment.clock.elapsed(), {
      began: (exchange) => parts.began(exchange, single),
      ended(exchange) {
        limiter.ended(exchange.kind, exchange.status, exchange.rate?.remaining ?? null);
        if (parts.options().verbose) parts.verbose(verboseLine(exchange));
        parts.ended(exchange, single);
      },
    }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(maxRetries === undefined ? {} : { maxRetries }),
  });
  return {
    client: limitedClient(key, settingsFor(true), limiter, environment.clock, parts.signal),
    async unlimited() {
      const { createSendFrozen } = await import('../../client/frozen.js');
      const settings = settingsFor(false);
      return { client: new Urtuu(key, settings), send: createSendFrozen(key, settings), limiter };
    },
    async frozen() {
      const { createSendFrozen } = await import('../../client/frozen.js');
      const system = limitedSystem(limiter, environment.clock, parts.signal);
      return createSendFrozen(key, settingsFor(true), system);
    },
    async raw(headers) {
      const [{ recorded }, { createRequestSender }, { readApiKey, readOptions }] = await Promise.all([
        import('./raw.js'),
        import('../../client/transport/request.js'),
        import('../../client/options.js'),
      ]);
      const settings = settingsFor(true);
      const recording = recorded(settings.fetch as FetchLike, headers, redactorOf(key));
      const options = readOptions({ ...settings, fetch: recording.fetch });
      const send = createRequestSender(
        readApiKey(key),
        options,
        limitedSystem(limiter, environment.clock, parts.signal),
      );
      return { send, newest: recording.newest };
    },
    close: () => limiter.close(),
  };
}
