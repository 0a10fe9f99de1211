import { join } from 'node:path';
import { inDoubtAfter } from '../../client/doubt.js';
import type { FetchLike, Urtuu } from '../../client/index.js';
import { redactorOf } from '../../client/secret.js';
import type { Service } from '../../service/index.js';
import { readKey } from '../config/key.js';
import type { Config } from '../config/profiles.js';
import { type Settings, settingsOf } from '../config/settings.js';
import { machineError, usageError } from '../errors.js';
import type { Files } from '../input/files.js';
import type { GlobalOptions } from '../options.js';
import type { World } from '../world.js';
import { embeddedFetch } from './embedded-fetch.js';
import { type Exchange, observed, redactedBody } from './exchange.js';

export interface Network {
  client(): Promise<Urtuu>;
  clientWith(key: string, baseUrl: string, allowHttp: boolean): Promise<Urtuu>;
  account(): Promise<{ baseUrl: string; key: string }>;
  settings(): Promise<Settings>;
  readonly sandbox: boolean;
  service(directory?: string): Promise<Service>;
  onExchange(listener: (exchange: Exchange) => void): () => void;
  /** The newest exchange that has ended. */
  last(): Exchange | null;
  /** A posted request whose outcome nobody knows: under way, or in doubt and perhaps about to be tried again. */
  pendingSend(): Exchange | null;
  close(): Promise<void>;
}

interface Needs {
  world: World;
  options: GlobalOptions;
  state: string;
  files: Files;
  readConfig(): Promise<Config>;
  verbose(line: string): void;
  /** Told of faults inside the embedded service. */
  report(error: unknown): void;
}

/** What `--verbose` shows; nothing is looked up or listens there. */
const sandboxUrl = 'http://sandbox/v1';

/** How long a sandbox command waits at its end for messages on their way. */
const settleWithin = 5_000;

/** The way to the service: over the network, or to the embedded one. Everything is opened when first needed. */
export function openNetwork(needs: Needs): Network {
  const { world, options } = needs;
  const sandbox = options.sandbox ?? isOn(world.env.URTUU_SANDBOX);
  const listeners = new Set<(exchange: Exchange) => void>();
  const underway = new Set<Exchange>();
  /** What no answer has settled yet, by idempotency key. */
  const doubtful = new Map<string | null, Exchange>();
  let last: Exchange | null = null;
  const services = new Map<string, Promise<Service>>();
  const sandboxDirectory = join(needs.state, 'sandbox');

  const service = (directory = sandboxDirectory): Promise<Service> => {
    const known = services.get(directory) ?? openService(world, directory, needs.report);
    services.set(directory, known);
    return known;
  };
  const began = (exchange: Exchange) => void underway.add(exchange);
  const ended = (exchange: Exchange) => {
    underway.delete(exchange);
    last = exchange;
    if (exchange.kind === 'sending') {
      const { idempotencyKey: key } = exchange;
      if (isInDoubt(exchange, doubtful.has(key))) doubtful.set(key, exchange);
      else doubtful.delete(key);
    }
    if (options.verbose) needs.verbose(described(exchange));
    for (const listener of listeners) listener(exchange);
  };

  const settings = once(async () => settingsOf(options, world.env, await needs.readConfig()));
  const connect = async (
    key: string,
    baseUrl: string,
    allowHttp: boolean,
    given?: FetchLike,
  ): Promise<Urtuu> => {
    const { Urtuu } = await import('../../client/index.js');
    const fetch = given ?? world.fetch ?? (await import('./fetch.js')).nodeFetch(world.env);
    return new Urtuu(key, {
      baseUrl,
      allowHttp,
      fetch: observed(fetch, { baseUrl, redactor: redactorOf(key) }, () => world.clock.now(), {
        began,
        ended,
      }),
      ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
      ...(options.maxRetries === undefined ? {} : { maxRetries: options.maxRetries }),
    });
  };
  const account = once(async () => {
    if (sandbox) {
      if (options.baseUrl !== undefined)
        throw usageError(
          '--sandbox and --base-url exclude each other',
          'The embedded service has no address.',
        );
      // It has one account; the key of its commands is another in every process.
      return { baseUrl: sandboxUrl, key: '' };
    }
    const { baseUrl, key } = await settings();
    return { baseUrl, key: await readKey(key, needs.files, world.platform) };
  });
  const client = once(async () => {
    const { baseUrl, key } = await account();
    // The address of the sandbox is a name only: nothing goes over a network.
    if (!sandbox) return connect(key, baseUrl, (await settings()).allowHttp);
    const embedded = await service();
    return connect(embedded.localKey, baseUrl, true, embeddedFetch(embedded));
  });

  return {
    client,
    account,
    clientWith: (key, baseUrl, allowHttp) => connect(key, baseUrl, allowHttp),
    settings,
    sandbox,
    service,
    onExchange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    last: () => last,
    pendingSend: () =>
      [...underway].find(({ kind }) => kind === 'sending') ?? [...doubtful.values()].at(-1) ?? null,
    async close() {
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

/** By the status alone: the body is not read yet. */
function isInDoubt({ status, requestSent, idempotencyKey }: Exchange, before: boolean): boolean {
  if (status !== null && status < 400) return false;
  return inDoubtAfter(before, { code: '', status, requestSent }, idempotencyKey === null ? 'verify' : 'send');
}

const isOn = (value: string | undefined) => value !== undefined && value !== '' && value !== '0';

async function openService(
  world: World,
  directory: string,
  report: (error: unknown) => void,
): Promise<Service> {
  const open = world.openService ?? (await import('../../service/index.js')).createService;
  try {
    return await open({ directory, report });
  } catch (error) {
    throw machineError(
      `the embedded service cannot run: ${(error as Error).message}`,
      error,
      embeddedHint(error),
    );
  }
}

/** The engine is an optional dependency, so it may not be there. */
function embeddedHint(error: unknown): string {
  return (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND'
    ? 'Install its engine beside urtuu: npm install @photostructure/sqlite'
    : 'It needs a folder that is yours, with room in it; see: urtuu help sandbox';
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
