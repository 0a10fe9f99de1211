import type { Urtuu } from '../client/index.js';
import type { Service } from '../service/index.js';
import type { PrintedOptions } from './command-line.js';
import type { Config } from './config/profiles.js';
import type { Settings } from './config/settings.js';
import type { Files } from './files/files.js';
import type { Exchange } from './network/exchange.js';
import type { GlobalOptions } from './options.js';
import type { Printer } from './output/printer.js';
import type { View } from './output/view.js';
import type { Clock, World } from './process-environment.js';
import type { RateLimiter } from './rate-limit/rate-limiter.js';
import type { Notices } from './terminal/notices.js';
import type { Progress } from './terminal/progress.js';
import type { Questions } from './terminal/prompts.js';
import type { Sink } from './terminal/streams.js';

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
