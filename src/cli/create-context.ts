import { setMaxListeners } from 'node:events';
import { commandLine } from './command-line.js';
import { configDirectory, noHome, stateDirectory } from './config/folders.js';
import { type Config, readConfig, writeConfig } from './config/profiles.js';
import type { OwnedContext, Streams } from './context.js';
import { Files } from './files/files.js';
import { openNetwork } from './network/network.js';
import type { GlobalOptions } from './options.js';
import { Printer } from './output/printer.js';
import { sentToSandbox } from './output/view.js';
import type { World } from './process-environment.js';
import { Notices } from './terminal/notices.js';

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
