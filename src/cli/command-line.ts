import type { ConfigFile } from './config/profiles.js';
import { keyOf, profileNameOf, settingsOf } from './config/settings.js';
import type { GlobalOptions } from './options.js';
import { quoteArgument } from './platform/quote.js';

/** Values of options by their name as it is typed: `--max-credits`. What is false or undefined is left out. */
export type PrintedOptions = Readonly<Record<`--${string}`, string | number | boolean | undefined>>;

/** What decides where a command goes and with which key. */
export interface Destination {
  options: GlobalOptions;
  env: Readonly<Record<string, string | undefined>>;
  config: ConfigFile;
  sandbox: boolean;
}

/** A command to be copied: with what it goes to the same service and project, quoted for the shell. */
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
 * The options that lead to the same service with the same key, whatever the environment and `profiles use` say
 * when the command is run. Only a key from URTUU_API_KEY has to be there again: no option takes one.
 */
function destinationOptions(destination: Destination): PrintedOptions {
  const { options } = destination;
  const said = options.profile ?? profileInEffect(destination);
  return {
    '--profile': said,
    '--base-url': differingBaseUrl(destination, said),
    '--api-key-file': options.apiKeyFile,
  };
}

/** Undefined where there is none, or where to name it would put its key before that of the environment. */
function profileInEffect({ options, env, config }: Destination): string | undefined {
  const name = profileNameOf(options, env, config);
  if (!Object.hasOwn(config.profiles, name)) return undefined;
  const [unnamed, named] = [false, true].map((each) => keyOf(options, env, config.profiles[name], each));
  return unnamed?.kind === named?.kind ? name : undefined;
}

/** Undefined where the profile alone, or the default, leads to the same base URL. */
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
    // It is refused: then the person has to see what was said.
    return options.baseUrl;
  }
}

/** A text in which `urtuu ...` between backticks is a command: as it has to be typed, without them. */
export function withCommands(text: string, command: (words: readonly string[]) => string): string {
  return text.replace(/`urtuu ([^`]+)`/g, (_, words: string) => command(words.split(' ')));
}
