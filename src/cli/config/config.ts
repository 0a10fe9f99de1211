import { once } from '../once.js';
import type { GlobalOptions } from '../options.js';
import type { ProcessEnvironment } from '../process-environment.js';
import { envFlag } from './env-flag.js';
import { configDirectory, noHome, stateDirectory } from './folders.js';
import { commandLine, type PrintedCommand, type PrintedOptions, withCommands } from './printed-command.js';
import { type ConfigFile, changeConfig, isClosed, readConfig } from './profiles.js';
import { needsProfile, type Settings, settingsOf } from './settings.js';

/** Settings and folders: from the environment, the profiles and the options. */
export interface Config {
  readonly env: ProcessEnvironment['env'];
  readonly platform: NodeJS.Platform;
  /** `v20.11.1` */
  readonly nodeVersion: string;
  /** Path of the running command, which may be a link. */
  readonly script: string;
  /** The folder to which relative file names refer. Throws CliError (exit 13) if it was deleted. */
  readonly cwd: string;
  /** Folder of the profiles; null without a home. */
  readonly directory: string | null;
  /** The profiles; none without a home. */
  read(): Promise<ConfigFile>;
  /** Changes the profiles as they are now, and returns the new ones. Throws CliError (exit 13) without a home. */
  change(change: (file: ConfigFile) => ConfigFile): Promise<ConfigFile>;
  /** Folder of jobs and the embedded service; throws CliError (exit 13) without a home. */
  readonly stateDirectory: string;
  /** Base URL, profile and where the key is. Throws CliError for a base URL that is not allowed. */
  settings(): Promise<Settings>;
  /** Whether requests go to the embedded service. Throws CliError if URTUU_SANDBOX is neither on nor off. */
  readonly sandbox: boolean;
  /** A command to copy that acts on the same things as this one; quoted for this system's shell. */
  commandLine(words: readonly string[], options?: PrintedOptions): PrintedCommand;
  /** The text, with each `urtuu ...` in backticks replaced by such a command. */
  withCommands(text: string): string;
}

/** `options` is called late, after the command line was parsed. */
export function openConfig(environment: ProcessEnvironment, options: () => GlobalOptions): Config {
  const directory = once(() => configDirectory(environment));
  const state = once(() => stateDirectory(environment));
  const inSandbox = () => options().sandbox ?? envFlag(environment.env, 'URTUU_SANDBOX');
  let file: ConfigFile | undefined;
  const readNow = () => {
    const folder = directory();
    file ??= folder === null ? { profiles: {} } : readConfig(folder, environment.platform);
    return file;
  };
  const readForSettings = () => {
    try {
      return readNow();
    } catch (error) {
      const folder = directory();
      if (folder === null || !isClosed(folder) || needsProfile(options(), environment.env)) throw error;
      return { profiles: {} };
    }
  };
  const printed = (words: readonly string[], given: PrintedOptions = {}) => {
    const run = {
      options: options(),
      env: environment.env,
      config: usable(readNow) ?? { profiles: {} },
      sandbox: usable(inSandbox) ?? false,
      home: environment.home,
      // If the current folder was deleted, names stay relative.
      cwd: () => usable(() => environment.cwd) ?? '',
    };
    return commandLine(words, given, run, environment.platform);
  };
  return {
    env: environment.env,
    platform: environment.platform,
    nodeVersion: environment.nodeVersion,
    script: environment.script ?? '',
    get cwd() {
      return environment.cwd;
    },
    get directory() {
      return directory();
    },
    read: async () => readNow(),
    async change(change) {
      const folder = directory();
      if (folder === null) throw noHome('profiles', 'XDG_CONFIG_HOME');
      file = await changeConfig(folder, change, environment.clock, environment.platform);
      return file;
    },
    get stateDirectory() {
      const folder = state();
      if (folder === null) throw noHome('jobs and data', 'XDG_STATE_HOME');
      return folder;
    },
    settings: once(async () => settingsOf(options(), environment.env, readForSettings())),
    get sandbox() {
      return inSandbox();
    },
    commandLine: printed,
    withCommands: (text) => withCommands(text, printed),
  };
}

/** An invalid setting is an error only for the commands that use it. */
function usable<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
