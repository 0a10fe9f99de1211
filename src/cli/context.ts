import { setMaxListeners } from 'node:events';
import type { Urtuu } from '../client/index.js';
import type { Service } from '../service/index.js';
import { configDirectory, stateDirectory } from './config/folders.js';
import { type Config, readConfig, writeConfig } from './config/profiles.js';
import type { Settings } from './config/settings.js';
import { Files } from './input/files.js';
import type { Exchange } from './network/exchange.js';
import { openNetwork } from './network/network.js';
import type { GlobalOptions } from './options.js';
import { Printer } from './output/printer.js';
import type { View } from './output/view.js';
import type { RateLimiter } from './rate-limit/rate-limiter.js';
import { Notices } from './terminal/notices.js';
import type { Progress } from './terminal/progress.js';
import type { Questions } from './terminal/prompts.js';
import type { Sink } from './terminal/streams.js';
import type { Clock, World } from './world.js';

/** All that a command may touch. */
export interface Context {
  readonly options: Readonly<GlobalOptions>;
  readonly env: World['env'];
  readonly platform: NodeJS.Platform;
  readonly nodeVersion: string;
  /** Folder that relative file names start from. */
  readonly cwd: string;
  readonly clock: Clock;
  random(): number;

  /** Aborts at the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /**
   * From now on a signal only aborts `signal`: the command finishes what is in flight and returns, and the
   * process then dies by the signal (5 s after a SIGTERM, or at a second Ctrl-C, in any case). The returned
   * function ends that. Without it a signal ends the command at once.
   */
  holdSignals(): () => void;

  /** The client for the profile, or for the embedded service with --sandbox. Throws CliError without a key. */
  client(): Promise<Urtuu>;
  /** The client for who takes the tokens of the rate limiter by itself, as bulk jobs do. */
  unlimitedClient(): Promise<{ client: Urtuu; limiter: RateLimiter }>;
  /** A client with another key, for another base URL; its exchanges are told of too. */
  clientWith(key: string, baseUrl: string): Promise<Urtuu>;
  /** Base URL, profile and where the key is; throws CliError for a base URL that is not allowed. */
  settings(): Promise<Settings>;
  /** Whether requests go to the embedded service. */
  readonly sandbox: boolean;
  /** The embedded service of --sandbox, or the one in `directory`; opened once, closed at the end. */
  service(directory?: string): Promise<Service>;
  /** Called after every HTTP exchange of `client()`; gives the way to stop that. */
  onExchange(listener: (exchange: Exchange) => void): () => void;
  /** The newest exchange that has ended. */
  readonly lastExchange: Exchange | null;

  readonly config: { directory: string; read(): Promise<Config>; write(config: Config): Promise<void> };
  /** Where jobs and the embedded service keep their data. */
  readonly stateDirectory: string;
  readonly files: Files;

  /** One result on standard output. */
  print<Row>(view: View<Row>, row: Row): Promise<void>;
  /** A list of results; ndjson, csv and tsv write each as it comes, and stop reading when nobody reads. */
  printAll<Row>(view: View<Row>, rows: Iterable<Row> | AsyncIterable<Row>): Promise<void>;
  readonly printer: Printer;
  /**
   * A line for the person on standard error; nothing with --quiet. A `command` is what follows the text, to be
   * copied.
   */
  note(text: string, command?: string): void;
  /** A line on standard error that --quiet does not hide. */
  warn(text: string, command?: string): void;
  /** Does some work, with a sign of it on the terminal when it takes a while. */
  during<Value>(text: string, work: () => Promise<Value>): Promise<Value>;
  /** A display of long work on standard error. Stop it before the command ends. */
  progress(): Progress;

  /** Somebody is there to ask: standard input and standard error are terminals. */
  readonly interactive: boolean;
  /** Questions; throws CliError (exit 2) when nobody is there. */
  ask(): Promise<Questions>;
}

export interface Streams {
  stdout: Sink;
  stderr: Sink;
}

/** A context and what only `program` may do with it. */
export interface OwnedContext extends Context {
  readonly held: boolean;
  /** A posted request that has no answer yet. */
  readonly pendingSend: Exchange | null;
  abort(signal: string): void;
  readonly notices: Notices;
  close(): Promise<void>;
}

/** `options` is asked when the command line has been read. */
export function createContext(world: World, streams: Streams, options: () => GlobalOptions): OwnedContext {
  const printer = lazily(() => new Printer(streams.stdout, options(), world.env));
  const notices = lazily(() => new Notices(world, streams.stderr, options(), printer().isMachine));
  if (streams.stdout.isTerminal) streams.stdout.makeRoom = () => notices().makeRoom();
  const controller = lazily(() => {
    const made = new AbortController();
    // Whatever waits listens to it.
    setMaxListeners(0, made.signal);
    return made;
  });
  const directory = configDirectory(world);
  const state = stateDirectory(world);
  const files = new Files(() => world.stdin, world.cwd);
  // Asked for late: to open standard input costs a start some of its time.
  const interactive = lazily(() => streams.stderr.isTerminal && world.stdin.isTTY === true);
  let held = 0;

  let config: Promise<Config> | undefined;
  const readOnce = () => {
    config ??= readConfig(directory, world.platform);
    return config;
  };
  const network = lazily(() =>
    openNetwork({
      world,
      options: options(),
      state,
      files,
      readConfig: readOnce,
      verbose: (line) => notices().write(line),
      waiting: (milliseconds) => notices().rateLimited(milliseconds),
      signal: () => controller().signal,
      report: (error) => notices().warn(`a fault in the service: ${String(error)}`),
    }),
  );

  return {
    get options() {
      return options();
    },
    env: world.env,
    platform: world.platform,
    nodeVersion: world.nodeVersion,
    cwd: world.cwd,
    clock: world.clock,
    random: () => world.random(),
    get signal() {
      return controller().signal;
    },
    holdSignals() {
      held += 1;
      return () => {
        held -= 1;
      };
    },
    get held() {
      return held > 0;
    },
    abort: (signal) => controller().abort(new Error(`stopped by ${signal}`, { cause: signal })),

    client: () => network().client(),
    unlimitedClient: () => network().unlimitedClient(),
    clientWith: (key, baseUrl) => network().clientWith(key, baseUrl),
    settings: () => network().settings(),
    get sandbox() {
      return network().sandbox;
    },
    service: (folder) => network().service(folder),
    onExchange: (listener) => network().onExchange(listener),
    get lastExchange() {
      return network().last();
    },
    get pendingSend() {
      return network().pendingSend();
    },

    config: {
      directory,
      read: readOnce,
      async write(value) {
        await writeConfig(directory, value);
        config = Promise.resolve(value);
      },
    },
    stateDirectory: state,
    files,

    print: (view, row) => printer().one(view, row),
    async printAll(view, rows) {
      const count = await printer().many(view, rows);
      if (count === 0 && view.empty !== undefined) notices().note(view.empty);
    },
    get printer() {
      return printer();
    },
    note: (text, command) => notices().note(text, command),
    warn: (text, command) => notices().warn(text, command),
    progress: () => notices().progress(),
    async during(text, work) {
      const progress = notices().progress();
      progress.update(text);
      try {
        return await work();
      } finally {
        progress.stop();
      }
    },

    get interactive() {
      return interactive();
    },
    async ask() {
      if (!interactive()) {
        const { usageError } = await import('./errors.js');
        throw usageError('there is no terminal to ask at', 'Give every value as an option or argument.');
      }
      if (world.questions !== undefined) return world.questions;
      const { questions } = await import('./terminal/inquirer.js');
      return questions(world.stdin, world.stderr, notices().colour);
    },
    get notices() {
      return notices();
    },
    close: () => network().close(),
  };
}

function lazily<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
