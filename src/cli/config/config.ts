import { once } from '../once.js';
import type { GlobalOptions } from '../options.js';
import type { ProcessEnvironment } from '../process-environment.js';
import { envFlag } from './env-flag.js';
import { configDirectory, noHome, stateDirectory } from './folders.js';
import { commandLine, type PrintedOptions } from './printed-command.js';
import { type ConfigFile, readConfig, writeConfig } from './profiles.js';
import { type Settings, settingsOf } from './settings.js';

/** Settings and folders: the environment, the profiles, and the two merged with the options. */
export interface Config {
  readonly env: ProcessEnvironment['env'];
  readonly platform: NodeJS.Platform;
  /** `v20.11.1` */
  readonly nodeVersion: string;
  /** Folder that relative file names start from. Throws CliError (exit 13) where it was deleted. */
  readonly cwd: string;
  /** Folder of the profiles; null without a home. */
  readonly directory: string | null;
  /** The profiles; none without a home. */
  read(): Promise<ConfigFile>;
  /** Throws CliError (exit 13) without a home. */
  write(file: ConfigFile): Promise<void>;
  /** Folder of jobs and the embedded service; throws CliError (exit 13) without a home. */
  readonly stateDirectory: string;
  /** Base URL, profile and where the key is; throws CliError for a base URL that is not allowed. */
  settings(): Promise<Settings>;
  /** Whether requests go to the embedded service. Throws CliError where URTUU_SANDBOX is neither on nor off. */
  readonly sandbox: boolean;
  /** A command to copy: with the options that lead to the same service and key, quoted for this system's shell. */
  commandLine(words: readonly string[], options?: PrintedOptions): string;
}

/** `options` is called late, after the command line has been parsed. */
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
  return {
    env: environment.env,
    platform: environment.platform,
    nodeVersion: environment.nodeVersion,
    get cwd() {
      return environment.cwd;
    },
    get directory() {
      return directory();
    },
    read: async () => readNow(),
    async write(value) {
      const folder = directory();
      if (folder === null) throw noHome('profiles', 'XDG_CONFIG_HOME');
      await writeConfig(folder, value, environment.platform);
      file = value;
    },
    get stateDirectory() {
      const folder = state();
      if (folder === null) throw noHome('jobs and data', 'XDG_STATE_HOME');
      return folder;
    },
    settings: once(async () => settingsOf(options(), environment.env, readNow())),
    get sandbox() {
      return inSandbox();
    },
    commandLine(words, given = {}) {
      const destination = {
        options: options(),
        env: environment.env,
        config: usable(readNow) ?? { profiles: {} },
        sandbox: usable(inSandbox) ?? false,
      };
      return commandLine(words, given, destination, environment.platform);
    },
  };
}

/** A wrong setting is an error only of the command that needs it. */
function usable<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
