import { join, resolve } from 'node:path';
import type { GlobalOptions } from '../options.js';
import { shellLine } from '../platform/quote.js';
import { hasPassword } from './database-url.js';
import type { ConfigFile } from './profiles.js';
import { keyOf, profileNameOf, settingsOf } from './settings.js';

declare const printed: unique symbol;

/** A command to copy. Only `commandLine` makes one. */
export type PrintedCommand = string & { readonly [printed]: true };

/** Values by option name, `--max-credits`. False and undefined are left out. */
export type PrintedOptions = Readonly<Record<`--${string}`, string | number | boolean | undefined>>;

/** The run that prints a command: everything that leads it to its service, key, folders and data. */
export interface Run {
  /** Those of the owner of a service too, where its command has them. */
  options: GlobalOptions & { data?: string; database?: string; project?: string };
  env: Readonly<Record<string, string | undefined>>;
  config: ConfigFile;
  sandbox: boolean;
  home: string | null;
  /** Called for relative names. */
  cwd(): string;
}

/** A command to copy that acts on what the run acts on, from any folder and environment; quoted for the shell. */
export function commandLine(
  words: readonly string[],
  options: PrintedOptions,
  run: Run,
  platform: NodeJS.Platform,
): PrintedCommand {
  const way = wayOf(words);
  const own = waysTo[way](run, words, options['--sandbox'] === true);
  const given = Object.entries({ ...options, ...own, ...options }).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    return value === true ? [name] : [name, fromAnyFolder(name, String(value), run)];
  });
  const variables = way === 'nowhere' ? {} : variablesOf(run, way, { ...own, ...options });
  return shellLine(['urtuu', ...words, ...given], variables, platform) as PrintedCommand;
}

/** What a command reads. */
const inputFiles = new Set(['--api-key-file', '--text-file', '--html-file']);

const fromAnyFolder = (name: string, value: string, { cwd }: Run): string =>
  inputFiles.has(name) && value !== '-' ? resolve(cwd(), value) : value;

/** What a command acts on: an account of a service, a service of this machine, a profile, or nothing. */
type Way = 'account' | 'data' | 'profile' | 'nowhere';

const ways: Readonly<Record<string, Way>> = {
  keys: 'data',
  service: 'data',
  serve: 'data',
  dashboard: 'data',
  sandbox: 'data',
  login: 'profile',
  logout: 'profile',
  profiles: 'profile',
  help: 'nowhere',
  completion: 'nowhere',
};

function wayOf(words: readonly string[]): Way {
  const [first = ''] = words;
  if (first.startsWith('-') || words.at(-1) === '--help') return 'nowhere';
  return ways[first] ?? 'account';
}

const waysTo: Readonly<
  Record<Way, (run: Run, words: readonly string[], toSandbox: boolean) => PrintedOptions>
> = {
  account: (run, _, toSandbox) => (toSandbox || run.sandbox ? { '--sandbox': true } : accountOptions(run)),
  data: dataOptions,
  profile: (run) => {
    const profile = run.options.profile ?? profileInEffect(run);
    return { '--profile': profile, '--base-url': differingBaseUrl(run, profile) };
  },
  nowhere: () => ({}),
};

/**
 * The options that lead to the same service and key from any environment and with any profile in use. Only a key from
 * URTUU_API_KEY must be set again: no option takes one.
 */
function accountOptions(run: Run): PrintedOptions {
  const profile = run.options.profile ?? profileInEffect(run);
  return {
    '--profile': profile,
    '--base-url': differingBaseUrl(run, profile),
    '--api-key-file': run.options.apiKeyFile,
  };
}

/** Undefined where there is none, or where naming it would override the key of the environment. */
function profileInEffect({ options, env, config }: Run): string | undefined {
  const name = profileNameOf(options, env, config);
  if (!Object.hasOwn(config.profiles, name)) return undefined;
  const [unnamed, named] = [false, true].map((each) => keyOf(options, env, config.profiles[name], each));
  return unnamed?.kind === named?.kind ? name : undefined;
}

/** Undefined where the profile alone, or the default, has the same base URL. */
function differingBaseUrl({ options, env, config }: Run, profile: string | undefined): string | undefined {
  try {
    const { baseUrl } = settingsOf(options, env, config);
    const bare = { URTUU_ALLOW_HTTP: env.URTUU_ALLOW_HTTP };
    const alone = profile === undefined ? {} : { profile };
    const { profiles } = config;
    return settingsOf(alone, bare, { profiles }).baseUrl === baseUrl ? undefined : baseUrl;
  } catch {
    // It is not allowed: the person should see it.
    return options.baseUrl;
  }
}

/** The commands of an owner that are about one project. */
const ofProject =
  /^(?:keys|dashboard|service (?:keys|settings|credit|ledger|dns|inbox|suppressions)|sandbox settings)\b/;

/** The data of a service on this machine, and the project in it. A database with a password stays in its variable. */
function dataOptions({ options, env, sandbox, cwd }: Run, words: readonly string[]): PrintedOptions {
  const { data, database, project } = options;
  const [first] = words;
  const fromEnv = first === 'sandbox' || sandbox ? undefined : env.URTUU_DATABASE || undefined;
  const about = ofProject.test(words.join(' ')) ? { '--project': project } : {};
  if (data !== undefined) return { ...about, '--data': resolve(cwd(), data) };
  const url = database ?? fromEnv;
  if (url !== undefined) return { ...about, '--database': hasPassword(url) ? undefined : url };
  return { ...about, '--sandbox': sandbox && (first === 'keys' || first === 'service') };
}

/** The variables that choose folders, and what no option can say. */
function variablesOf({ env, home, cwd }: Run, way: Way, options: PrintedOptions): Record<string, string> {
  const state = env.XDG_STATE_HOME || undefined;
  const config = env.XDG_CONFIG_HOME || undefined;
  const secret = options['--database'] === undefined ? undefined : env.URTUU_SECRET_FILE || undefined;
  const isElsewhere = way === 'data' && (options['--data'] ?? options['--database']) !== undefined;
  const isUsual = (folder: string, ...steps: string[]) => home !== null && folder === join(home, ...steps);
  const all: Record<string, string | undefined> = {
    XDG_STATE_HOME:
      state && !isElsewhere && !isUsual(state, '.local', 'state') ? resolve(cwd(), state) : undefined,
    XDG_CONFIG_HOME:
      config && (way === 'account' || way === 'profile') && !isUsual(config, '.config')
        ? resolve(cwd(), config)
        : undefined,
    URTUU_SECRET_FILE: secret && resolve(cwd(), secret),
    URTUU_ALLOW_HTTP: way === 'account' ? env.URTUU_ALLOW_HTTP || undefined : undefined,
  };
  const set = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(set);
}

/** Replaces each `urtuu ...` between backticks by the command to type. */
export function withCommands(text: string, command: (words: readonly string[]) => string): string {
  return text.replace(/`urtuu ([^`]+)`/g, (_, words: string) => command(words.split(' ')));
}
