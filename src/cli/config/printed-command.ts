import type { GlobalOptions } from '../options.js';
import { quoteArgument } from '../platform/quote.js';
import type { ConfigFile } from './profiles.js';
import { keyOf, profileNameOf, settingsOf } from './settings.js';

/** Values by option name, `--max-credits`. False and undefined are left out. */
export type PrintedOptions = Readonly<Record<`--${string}`, string | number | boolean | undefined>>;

/** Decides the service and the key of a command. */
export interface Destination {
  options: GlobalOptions;
  env: Readonly<Record<string, string | undefined>>;
  config: ConfigFile;
  sandbox: boolean;
}

/** A command to copy, with the options that lead to the same service and project; quoted for the shell. */
export function commandLine(
  words: readonly string[],
  options: PrintedOptions,
  destination: Destination,
  platform: NodeJS.Platform,
): string {
  const toSandbox = destination.sandbox || options['--sandbox'] === true;
  const all = { ...options, ...(toSandbox ? { '--sandbox': true } : destinationOptions(destination)) };
  const given = Object.entries(all).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    return value === true ? [name] : [name, String(value)];
  });
  return ['urtuu', ...words, ...given].map((word) => quoteArgument(word, platform)).join(' ');
}

/**
 * The options that lead to the same service and key from any environment and with any profile in use. Only a key from
 * URTUU_API_KEY must be set again: no option takes one.
 */
function destinationOptions(destination: Destination): PrintedOptions {
  const { options } = destination;
  const profile = options.profile ?? profileInEffect(destination);
  return {
    '--profile': profile,
    '--base-url': differingBaseUrl(destination, profile),
    '--api-key-file': options.apiKeyFile,
  };
}

/** Undefined where there is none, or where naming it would override the key of the environment. */
function profileInEffect({ options, env, config }: Destination): string | undefined {
  const name = profileNameOf(options, env, config);
  if (!Object.hasOwn(config.profiles, name)) return undefined;
  const [unnamed, named] = [false, true].map((each) => keyOf(options, env, config.profiles[name], each));
  return unnamed?.kind === named?.kind ? name : undefined;
}

/** Undefined where the profile alone, or the default, has the same base URL. */
function differingBaseUrl(
  { options, env, config }: Destination,
  profile: string | undefined,
): string | undefined {
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

/** Replaces each `urtuu ...` between backticks by the command to type. */
export function withCommands(text: string, command: (words: readonly string[]) => string): string {
  return text.replace(/`urtuu ([^`]+)`/g, (_, words: string) => command(words.split(' ')));
}
