import { setMaxListeners } from 'node:events';
import { openConfig } from './config/config.js';
import type { Context } from './context.js';
import { Files } from './files/files.js';
import type { Io } from './io.js';
import { type OwnedNetwork, openNetwork } from './network/network.js';
import { once } from './once.js';
import type { GlobalOptions } from './options.js';
import { Printer } from './output/printer.js';
import { sandboxView } from './output/view.js';
import type { ProcessEnvironment } from './process-environment.js';
import { Notices } from './terminal/notices.js';
import type { Sink } from './terminal/streams.js';

/** Milliseconds after a SIGTERM or SIGHUP within which a command must end, by default. */
const terminateWithin = 5_000;

export interface Streams {
  stdout: Sink;
  stderr: Sink;
}

/** A context, with what only `application` may use. */
export interface OwnedContext extends Context {
  readonly network: OwnedNetwork;
  readonly notices: Notices;
  /** Milliseconds for which the command holds a SIGTERM; null if it does not hold signals. */
  readonly held: number | null;
  /** Lets a command that holds signals print its last words before it must end. False if none does. */
  sayLastWords(): boolean;
  /** A SIGHUP that ends nothing. */
  hangUp(): void;
  abort(signal: string): void;
}

/** `options` is called late, after the command line was parsed. */
export function createContext(
  environment: ProcessEnvironment,
  streams: Streams,
  options: () => GlobalOptions,
): OwnedContext {
  const printer = once(() => new Printer(streams.stdout, options(), environment.env));
  const notices = once(() => new Notices(environment, streams.stderr, options(), printer().isMachine));
  if (streams.stdout.isTerminal) streams.stdout.makeRoom = () => notices().makeRoom();
  const controller = once(() => new AbortController());
  // Everything that waits listens to it. The rate limiter adds one listener, and most commands add no other.
  const shared = once(() => {
    setMaxListeners(0, controller().signal);
    return controller().signal;
  });
  const config = openConfig(environment, options);
  const files = new Files(
    () => environment.stdin,
    () => environment.cwd,
    {
      note: (text) => notices().note(text),
      sleep: (milliseconds, signal = shared()) => environment.clock.sleep(milliseconds, signal),
    },
  );
  const network = openNetwork({
    environment,
    options,
    config,
    files,
    verbose: (line) => notices().write(line),
    waiting: (milliseconds) => notices().rateLimited(milliseconds),
    signal: () => controller().signal,
    // A person who typed --sandbox knows; a program finds it in the result.
    firstSandboxSend: () => {
      const said = 'Sandbox: this is the embedded service, nobody receives anything.';
      if (!options().sandbox) notices().warn(said);
      else if (!printer().isMachine) notices().note(said);
    },
    report: (fault) => notices().write(JSON.stringify(fault)),
  });
  // Checked late: opening standard input slows down the start.
  const canPrompt = once(() => streams.stderr.isTerminal && environment.stdin.isTTY === true);
  const holders: NonNullable<Parameters<Io['holdSignals']>[0]>[] = [];

  const io: Io = {
    async print(view, row) {
      await printer().one(network.sentToSandbox ? sandboxView(view) : view, row);
      network.shown();
    },
    async printAll(view, rows) {
      const count = await printer().many(view, rows);
      if (count === 0 && view.empty !== undefined) io.note(view.empty);
    },
    get printer() {
      return printer();
    },
    note: (text, command) => notices().note(config.withCommands(text), command),
    warn: (text, command) => notices().warn(config.withCommands(text), command),
    endless: () => notices().endless(),
    log: (record) => notices().write(JSON.stringify(record)),
    conclude: (text, next) => notices().conclude(config.withCommands(text), next),
    attach: (details) => notices().attach(details),
    progress: () => notices().progress(),
    async withProgress(text, work) {
      const progress = notices().progress();
      progress.update(text);
      try {
        return await work();
      } finally {
        progress.stop();
      }
    },
    get columns() {
      return streams.stderr.isTerminal ? streams.stderr.columns : 80;
    },
    get isAtTerminal() {
      return environment.isAtTerminal();
    },
    get canPrompt() {
      return canPrompt();
    },
    async prompts() {
      if (!canPrompt()) {
        const { usageError } = await import('./errors.js');
        throw usageError('cannot prompt without a terminal', 'Give every value as an argument or option.');
      }
      const { safeQuestions } = await import('./terminal/prompts.js');
      if (environment.questions !== undefined) return safeQuestions(environment.questions);
      const { questions } = await import('./terminal/inquirer.js');
      return safeQuestions(questions(environment.stdin, environment.stderr, notices().colour));
    },
    files,
    async openInBrowser(place) {
      if (environment.openInBrowser !== undefined) return environment.openInBrowser(place);
      const { openInBrowser } = await import('./platform/open-in-browser.js');
      return openInBrowser(place, environment.platform, environment.env);
    },
    holdSignals(holder = {}) {
      holders.push(holder);
      return () => void holders.splice(holders.indexOf(holder), 1);
    },
  };

  return {
    get options() {
      return options();
    },
    io,
    network,
    config,
    clock: environment.clock,
    get signal() {
      return shared();
    },
    get notices() {
      return notices();
    },
    get held() {
      return holders.length === 0 ? null : (holders[0]?.within ?? terminateWithin);
    },
    sayLastWords() {
      const speaker = holders.findLast(({ lastWords }) => lastWords !== undefined);
      speaker?.lastWords?.();
      return speaker !== undefined;
    },
    hangUp() {
      for (const { onHangUp } of holders) onHangUp?.();
    },
    abort: (signal) => controller().abort(new Error(`stopped by ${signal}`, { cause: signal })),
  };
}
