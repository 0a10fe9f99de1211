import { setMaxListeners } from 'node:events';
import type { Urtuu } from '../client/index.js';
import type { Service } from '../service/index.js';
import { commandLine, type PrintedOptions } from './command-line.js';
import { configDirectory, noHome, stateDirectory } from './config/folders.js';
import { type Config, readConfig, writeConfig } from './config/profiles.js';
import type { Settings } from './config/settings.js';
import { Files } from './input/files.js';
import type { Exchange } from './network/exchange.js';
import { openNetwork } from './network/network.js';
import type { GlobalOptions } from './options.js';
import { Printer } from './output/printer.js';
import { sentToSandbox, type View } from './output/view.js';
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

  /** Aborts at the first SIGINT, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal;
  /**
   * From now on a signal only aborts `signal`: the command finishes what is in flight and returns, and the
   * process then dies by the signal (5 s after a SIGTERM, or at a second Ctrl-C, in any case, after `lastWords`).
   * The returned function ends that. Without it a signal ends the command at once.
   */
  holdSignals(lastWords?: () => void): () => void;

  /** The client for the profile, or for the embedded service with --sandbox. Throws CliError without a key. */
  client(): Promise<Urtuu>;
  /** The client for who takes the tokens of the rate limiter by itself, as bulk jobs do. */
  unlimitedClient(): Promise<{ client: Urtuu; limiter: RateLimiter }>;
  /** The API key; null with --sandbox. Throws CliError when there is none. */
  apiKey(): Promise<string | null>;
  /** A client with another key, for another base URL; its exchanges are told of too. */
  clientWith(key: string, baseUrl: string, allowHttp: boolean): Promise<Urtuu>;
  /** A command to be copied: with what leads it to the same service and key, quoted for this system's shell. */
  commandLine(words: readonly string[], options?: PrintedOptions): string;
  /** Base URL, profile and where the key is; throws CliError for a base URL that is not allowed. */
  settings(): Promise<Settings>;
  /** Whether requests go to the embedded service. */
  readonly sandbox: boolean;
  /** Whether a message went to the embedded service. */
  readonly sentToSandbox: boolean;
  /** The embedded service of --sandbox, or the one in `directory`; opened once, closed at the end. */
  service(directory?: string, options?: { acceptData?: boolean }): Promise<Service>;
  /** Called after every HTTP exchange of `client()`; gives the way to stop that. */
  onExchange(listener: (exchange: Exchange) => void): () => void;
  /** The newest exchange that has ended. */
  readonly lastExchange: Exchange | null;

  /** Profiles; without a home there are none, and `write` throws CliError (exit 13). */
  readonly config: {
    directory: string | null;
    read(): Promise<Config>;
    write(config: Config): Promise<void>;
  };
  /** Where jobs and the embedded service keep their data; throws CliError (exit 13) without a home. */
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
  /** The last line of a command that ends with another code than 0: the message of the error for programs. */
  conclude(text: string, command?: string): void;
  /** Fields for the error object that a program reads if the command fails. */
  attach(details: Record<string, unknown>): void;
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
  /** Lets a command that holds signals, and has to end now, say what is certain. False when none does. */
  sayLastWords(): boolean;
  /** A posted request that has no answer yet, or one that nobody has seen. */
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
  const directory = lazily(() => configDirectory(world));
  const state = lazily(() => stateDirectory(world));
  const stateFolder = () => {
    const folder = state();
    if (folder === null) throw noHome('jobs and data', 'XDG_STATE_HOME');
    return folder;
  };
  const files = new Files(
    () => world.stdin,
    () => world.cwd,
    {
      note: (text) => notices().note(text),
      sleep: (milliseconds, signal = controller().signal) => world.clock.sleep(milliseconds, signal),
    },
  );
  // Asked for late: to open standard input costs a start some of its time.
  const interactive = lazily(() => streams.stderr.isTerminal && world.stdin.isTTY === true);
  const holders: { lastWords: (() => void) | undefined }[] = [];

  let config: Config | undefined;
  const readNow = () => {
    const folder = directory();
    config ??= folder === null ? { profiles: {} } : readConfig(folder, world.platform);
    return config;
  };
  const readOnce = async () => readNow();
  const network = lazily(() =>
    openNetwork({
      world,
      options: options(),
      state: stateFolder,
      files,
      readConfig: readOnce,
      verbose: (line) => notices().write(line),
      waiting: (milliseconds) => notices().rateLimited(milliseconds),
      signal: () => controller().signal,
      // A person who wrote --sandbox knows; a program finds it in the result.
      firstSandboxSend: () => {
        const said = 'Sandbox: this is the embedded service, nobody receives anything.';
        if (!options().sandbox) notices().warn(said);
        else if (!printer().isMachine) notices().note(said);
      },
      report: (fault) => notices().write(JSON.stringify(fault)),
    }),
  );

  return {
    get options() {
      return options();
    },
    env: world.env,
    platform: world.platform,
    nodeVersion: world.nodeVersion,
    get cwd() {
      return world.cwd;
    },
    clock: world.clock,
    random: () => world.random(),
    get signal() {
      return controller().signal;
    },
    holdSignals(lastWords) {
      const holder = { lastWords };
      holders.push(holder);
      return () => void holders.splice(holders.indexOf(holder), 1);
    },
    get held() {
      return holders.length > 0;
    },
    sayLastWords() {
      const speaker = holders.find(({ lastWords }) => lastWords !== undefined);
      speaker?.lastWords?.();
      return speaker !== undefined;
    },
    abort: (signal) => controller().abort(new Error(`stopped by ${signal}`, { cause: signal })),

    client: () => network().client(),
    unlimitedClient: () => network().unlimitedClient(),
    apiKey: () => network().key(),
    clientWith: (key, baseUrl, allowHttp) => network().clientWith(key, baseUrl, allowHttp),
    settings: () => network().settings(),
    commandLine: (words, given = {}) => {
      const sandbox = usable(() => network().sandbox) ?? false;
      const destination = {
        options: options(),
        env: world.env,
        config: usable(readNow) ?? { profiles: {} },
        sandbox,
      };
      return commandLine(words, given, destination, world.platform);
    },
    get sandbox() {
      return network().sandbox;
    },
    get sentToSandbox() {
      return network().sentToSandbox;
    },
    service: (folder, given) => network().service(folder, given),
    onExchange: (listener) => network().onExchange(listener),
    get lastExchange() {
      return network().last();
    },
    get pendingSend() {
      return network().pendingSend();
    },

    config: {
      get directory() {
        return directory();
      },
      read: readOnce,
      async write(value) {
        const folder = directory();
        if (folder === null) throw noHome('profiles', 'XDG_CONFIG_HOME');
        await writeConfig(folder, value, world.platform);
        config = value;
      },
    },
    get stateDirectory() {
      return stateFolder();
    },
    files,

    async print(view, row) {
      await printer().one(network().sentToSandbox ? sentToSandbox(view) : view, row);
      network().shown();
    },
    async printAll(view, rows) {
      const count = await printer().many(view, rows);
      if (count === 0 && view.empty !== undefined) notices().note(view.empty);
    },
    get printer() {
      return printer();
    },
    note: (text, command) => notices().note(text, command),
    warn: (text, command) => notices().warn(text, command),
    conclude: (text, command) => notices().conclude(text, command),
    attach: (details) => notices().attach(details),
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
      const { safeQuestions } = await import('./terminal/prompts.js');
      if (world.questions !== undefined) return safeQuestions(world.questions);
      const { questions } = await import('./terminal/inquirer.js');
      return safeQuestions(questions(world.stdin, world.stderr, notices().colour));
    },
    get notices() {
      return notices();
    },
    close: () => network().close(),
  };
}

/** What is wrong with a setting is told where the setting is needed. */
function usable<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function lazily<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
