import { join, resolve } from 'node:path';
import { parseUrl } from '../../contract/index.js';
import type { GlobalOptions } from '../options.js';
import { shellLine } from '../platform/quote.js';
import { hasPassword, withoutPassword } from './database-url.js';
import { type ConfigFile, defaultProfile } from './profiles.js';
import { keyOf, profileNameOf, settingsOf } from './settings.js';

declare const printed: unique symbol;

/** A command to copy. Only `commandLine` makes one. */
export type PrintedCommand = string & { readonly [printed]: true };

/** The next command, and the text before it. */
export type NextStep = readonly [text: string, command: PrintedCommand];

/** Values by option name, `--max-credits`. False and undefined are left out. */
export type PrintedOptions = Readonly<Record<`--${string}`, string | number | boolean | undefined>>;

/** Of a run: the global ones, and some of its command's own. */
export interface PrintingOptions extends GlobalOptions {
  data?: string;
  database?: string;
  project?: string;
  rate?: number;
  maxCredits?: number;
}

/** The run that prints a command, with everything that determines its service, key, folders and data. */
export interface PrintingRun {
  options: PrintingOptions;
  env: Readonly<Record<string, string | undefined>>;
  config: ConfigFile;
  sandbox: boolean;
  home: string | null;
  /** The folder for relative names. */
  cwd(): string;
}

/** A command to copy that acts on the same things as the run, from any folder and environment; quoted for the shell. */
export function commandLine(
  words: readonly string[],
  options: PrintedOptions,
  run: PrintingRun,
  platform: NodeJS.Platform,
): PrintedCommand {
  const way = wayOf(words);
  const all = { ...options, ...waysTo[way](run, words, options) };
  const given = Object.entries(all).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    return value === true ? [name] : [name, fileOptions.has(name) ? fullPath(run, value) : String(value)];
  });
  const variables = way === 'nowhere' ? {} : variablesOf(run, way, all);
  const line = ['urtuu', ...fromAnyFolder(withoutVariable(words, run), run), ...given];
  return shellLine(line, variables, platform) as PrintedCommand;
}

/** Without a database URL whose password is in its variable: the option would override it. */
function withoutVariable(words: readonly string[], { env }: PrintingRun): readonly string[] {
  const at = words.indexOf('--database');
  const url = env.URTUU_DATABASE ?? '';
  const isInVariable = at >= 0 && hasPassword(url) && withoutPassword(url) === words[at + 1];
  return isInVariable ? [...words.slice(0, at), ...words.slice(at + 2)] : words;
}

/** Options with the names of files that a command reads and writes. */
const fileOptions = new Set([
  '--api-key-file',
  '--text-file',
  '--html-file',
  '--input',
  '--report',
  '--rejects',
  '--exclude',
]);

/** `-` is standard input. */
const fullPath = ({ cwd }: PrintingRun, name: unknown): string =>
  name === '-' ? name : resolve(cwd(), String(name));

/** With full paths for all files: those of options, and the list of a bulk command. */
function fromAnyFolder(words: readonly string[], run: PrintingRun): string[] {
  return words.map((word, at) => {
    const [, option = '', value] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? [];
    if (fileOptions.has(option)) return `${option}=${fullPath(run, value)}`;
    const isFile = fileOptions.has(words[at - 1] ?? '') || isList(words, at);
    return isFile ? fullPath(run, word) : word;
  });
}

const isList = (words: readonly string[], at: number) =>
  at === 2 && words[1] === 'bulk' && !words[at]?.startsWith('-');

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
  const isAlone = words.length === 1 && first.startsWith('-');
  if (isAlone || words.at(-1) === '--help' || words[1] === 'example') return 'nowhere';
  return ways[first] ?? 'account';
}

/** The options that select it, in addition to those given. */
const waysTo: Readonly<
  Record<Way, (run: PrintingRun, words: readonly string[], given: PrintedOptions) => PrintedOptions>
> = {
  account: accountOptions,
  data: dataOptions,
  profile: (run, words, given) => {
    const [first, verb] = words;
    if (words.includes('--profile')) return { '--base-url': run.options.baseUrl };
    if (verb === 'list' || verb === 'use' || given['--base-url'] !== undefined) return {};
    const profile = run.options.profile ?? profileInEffect(run);
    const service = differingBaseUrl(run, profile);
    const replaces = profile === undefined || Object.hasOwn(run.config.profiles, profile);
    return first === 'login' && service !== undefined && replaces
      ? newProfileOptions(run, service)
      : { '--profile': profile, '--base-url': service };
  },
  nowhere: () => ({}),
};

/**
 * The options that select the same service and key from any environment and whatever profile is in use, or the
 * service given with --sandbox or --base-url. A key from URTUU_API_KEY must be set again, because no option takes
 * one.
 */
function accountOptions(run: PrintingRun, words: readonly string[], given: PrintedOptions): PrintedOptions {
  const { rate, maxCredits, apiKeyFile, profile = profileInEffect(run) } = run.options;
  // A run's limits apply to every job that it names.
  const limits = { '--rate': given['--rate'] ?? rate, '--max-credits': given['--max-credits'] ?? maxCredits };
  const limited = words[0] === 'jobs' && words[1] === 'resume' ? limits : {};
  const service = given['--base-url'];
  if (given['--sandbox'] || (service === undefined && run.sandbox))
    return { ...limited, '--sandbox': true, '--base-url': undefined };
  if (service !== undefined && service !== baseUrlOf(run)) {
    const profiles = Object.entries(run.config.profiles).filter(([, each]) => each.base_url === service);
    return profiles.length === 1
      ? { ...limited, '--profile': profiles[0]?.[0], '--base-url': undefined }
      : { ...limited, '--base-url': service };
  }
  return {
    ...limited,
    '--profile': profile,
    '--base-url': differingBaseUrl(run, profile),
    '--api-key-file': apiKeyFile,
  };
}

/** Undefined if there is none, or if naming it would override the environment's key. */
function profileInEffect({ options, env, config }: PrintingRun): string | undefined {
  const name = profileNameOf(options, env, config);
  if (!Object.hasOwn(config.profiles, name)) return undefined;
  const profile = config.profiles[name];
  const unnamed = keyOf(options, env, profile, false);
  const named = keyOf(options, env, profile, true);
  return unnamed.kind === named.kind ? name : undefined;
}

/** Undefined if it is not allowed. */
function baseUrlOf({ options, env, config }: PrintingRun): string | undefined {
  try {
    return settingsOf(options, env, config).baseUrl;
  } catch {
    return undefined;
  }
}

/**
 * For a sign-in to a service: the profile that has it, or a new one, because the command replaces the profile it
 * names.
 */
function newProfileOptions({ config: { profiles } }: PrintingRun, service: string): PrintedOptions {
  const found = Object.keys(profiles).find((name) => profiles[name]?.base_url === service);
  if (found !== undefined) return { '--profile': found };
  const isFree = !Object.hasOwn(profiles, defaultProfile);
  const host = parseUrl(service)?.host ?? service;
  const name = host.match(/[A-Za-z0-9.]+/g)?.join('-');
  return { '--profile': isFree ? undefined : name, '--base-url': service };
}

/** Undefined if the profile alone, or the default, has the same base URL. */
function differingBaseUrl(run: PrintingRun, profile: string | undefined): string | undefined {
  const { options, env, config } = run;
  const baseUrl = baseUrlOf(run);
  // It is not allowed: the person should see it.
  if (baseUrl === undefined) return options.baseUrl;
  const { profiles } = config;
  // Another profile may be in use by then.
  if (profile === undefined && Object.keys(profiles).length > 0) return baseUrl;
  const bare = { URTUU_ALLOW_HTTP: env.URTUU_ALLOW_HTTP };
  const alone = { options: profile === undefined ? {} : { profile }, env: bare, config: { profiles } };
  return baseUrlOf({ ...run, ...alone }) === baseUrl ? undefined : baseUrl;
}

/** The commands of an owner that are about one project. */
const ofProject =
  /^(?:keys|dashboard|service (?:keys|settings|credit|ledger|dns|inbox|suppressions)|sandbox settings)\b/;

/** The data of a service on this machine, and its project. A database URL with a password stays in its variable. */
function dataOptions(
  { options, env, sandbox, cwd }: PrintingRun,
  words: readonly string[],
  given: PrintedOptions,
): PrintedOptions {
  if (given['--data'] !== undefined || words.some((word) => /^--data(base)?$/.test(word))) return {};
  const { data, database, project } = options;
  const [first] = words;
  const fromEnv = first === 'sandbox' || sandbox ? undefined : env.URTUU_DATABASE || undefined;
  if (given['--database'] !== undefined) {
    const isInVariable = database === undefined && hasPassword(fromEnv ?? '');
    return { '--database': isInVariable ? undefined : given['--database'] };
  }
  const about = ofProject.test(words.join(' ')) ? { '--project': project } : {};
  if (data !== undefined) return { ...about, '--data': resolve(cwd(), data) };
  const url = database ?? fromEnv;
  if (url !== undefined) return { ...about, '--database': hasPassword(url) ? undefined : url };
  return { ...about, '--sandbox': sandbox && (first === 'keys' || first === 'service') };
}

/** The variables that select folders and what no option can express; null for one that the user must set. */
function variablesOf(run: PrintingRun, way: Way, options: PrintedOptions): Record<string, string | null> {
  const { env, home, cwd } = run;
  const has = (name: `--${string}`) => options[name] !== undefined;
  const folder = (name: string, ...usual: string[]) => {
    const value = env[name] || undefined;
    return value === undefined || (home !== null && value === join(home, ...usual))
      ? undefined
      : resolve(cwd(), value);
  };
  const all: Record<string, string | null | undefined> = {
    URTUU_API_KEY: way === 'account' && !options['--sandbox'] && isOtherKey(run, has) ? null : undefined,
    XDG_STATE_HOME:
      has('--data') || has('--database') ? undefined : folder('XDG_STATE_HOME', '.local', 'state'),
    XDG_CONFIG_HOME: way === 'data' ? undefined : folder('XDG_CONFIG_HOME', '.config'),
    URTUU_DATABASE_SCHEMA: has('--database') ? env.URTUU_DATABASE_SCHEMA || undefined : undefined,
    URTUU_SECRET_FILE: has('--database') ? folder('URTUU_SECRET_FILE') : undefined,
    URTUU_ALLOW_HTTP: way === 'account' ? env.URTUU_ALLOW_HTTP || undefined : undefined,
  };
  const set = Object.entries(all).filter((each): each is [string, string | null] => each[1] !== undefined);
  return Object.fromEntries(set);
}

/** Whether the key is from the environment, and without the variable a profile would use another one. */
function isOtherKey({ env, config }: PrintingRun, has: (name: `--${string}`) => boolean): boolean {
  const key = env.URTUU_API_KEY;
  if (!key || has('--profile') || has('--api-key-file')) return false;
  return Object.values(config.profiles).some(
    ({ api_key, key_command }) => key_command !== undefined || (api_key ?? key) !== key,
  );
}

/** Replaces each `urtuu ...` in backticks with the command to type. A word with spaces stands in quotes, its own doubled. */
export function withCommands(text: string, command: (words: readonly string[]) => string): string {
  return text.replace(/`urtuu ([^`]+)`/g, (_, line: string) =>
    command(
      [...line.matchAll(/'((?:[^']|'')*)'|\S+/g)].map(
        ([word, quoted]) => quoted?.replaceAll("''", "'") ?? word,
      ),
    ),
  );
}
