import { defaultBaseUrl, isSameBaseUrl } from '../../contract/index.js';
import { CliError, usageError } from '../errors.js';
import { exits } from '../exit-codes.js';
import type { GlobalOptions } from '../options.js';
import { didYouMean } from '../text/suggest.js';
import { checkBaseUrl } from './base-url.js';
import { envFlag } from './env-flag.js';
import { type ConfigFile, defaultProfile, isProfileName, type Profile } from './profiles.js';

type Env = Readonly<Record<string, string | undefined>>;

export type KeySource =
  | { kind: 'file'; file: string }
  | { kind: 'environment'; key: string }
  | { kind: 'stored'; key: string }
  | { kind: 'command'; command: string; isSaved: boolean }
  | { kind: 'none' }
  /** Of a profile for another base URL. */
  | { kind: 'refused'; error: CliError };

export interface Settings {
  profileName: string;
  baseUrl: string;
  /** Plain http to other machines is allowed. */
  allowHttp: boolean;
  key: KeySource;
  /** The address for mail to names without a domain. */
  localTo: string | null;
}

/** From the option, else the environment, else the profile in use. */
export function profileNameOf(options: GlobalOptions, env: Env, { current }: { current?: string }): string {
  return options.profile || env.URTUU_PROFILE || current || defaultProfile;
}

/** Whether a profile is named, or has the only key. */
export const needsProfile = (options: GlobalOptions, env: Env): boolean =>
  Boolean(options.profile || env.URTUU_PROFILE) || keyOf(options, env, undefined, false).kind === 'none';

/**
 * The command line overrides the environment, which overrides the profile. A profile named on the command line also
 * overrides the environment, with its key and base URL.
 */
export function settingsOf(options: GlobalOptions, env: Env, config: ConfigFile): Settings {
  const profileName = profileNameOf(options, env, config);
  const profile = Object.hasOwn(config.profiles, profileName) ? config.profiles[profileName] : undefined;
  if (profile === undefined && (options.profile || env.URTUU_PROFILE)) {
    throw noSuchProfile(profileName, config.profiles);
  }
  const fromEnv = env.URTUU_BASE_URL || undefined;
  const named = options.profile !== undefined;
  const baseUrl =
    options.baseUrl ??
    (named ? (profile?.base_url ?? fromEnv) : (fromEnv ?? profile?.base_url)) ??
    defaultBaseUrl;
  const allowHttp = allowsHttp(profile, baseUrl) || envFlag(env, 'URTUU_ALLOW_HTTP');
  const key = keyOf(options, env, profile, named);
  const service = profile?.base_url ?? defaultBaseUrl;
  const isSaved = key.kind === 'stored' || key.kind === 'command';
  return {
    profileName,
    baseUrl: checkBaseUrl(baseUrl, allowHttp),
    allowHttp,
    key:
      isSaved && !isSameBaseUrl(service, baseUrl)
        ? { kind: 'refused', error: keyOfAnother(profileName, service, baseUrl) }
        : key,
    localTo: profile?.local_to ?? null,
  };
}

/** Plain http is allowed to the base URL of the profile, not to others. */
export const allowsHttp = (profile: Profile | undefined, baseUrl: string): boolean =>
  profile?.allow_http === true && profile.base_url !== undefined && isSameBaseUrl(profile.base_url, baseUrl);

const keyOfAnother = (name: string, service: string, baseUrl: string) =>
  new CliError(
    'key_of_another_service',
    exits.usage,
    `the key of profile ${name} is for ${service}, not for ${baseUrl}`,
    {
      hint: `Leave out the base URL, give that service's key (URTUU_API_KEY, --api-key-file), or save a key for it: \`urtuu login\``,
    },
  );

export function noSuchProfile(name: string, profiles: ConfigFile['profiles']): CliError {
  const names = Object.keys(profiles);
  const hint = `Profiles: ${names.join(', ') || 'none'}.`;
  const way = isProfileName(name) ? ` Create it with: \`urtuu login --profile ${name}\`` : '';
  return usageError(`no profile '${name}'`, didYouMean(name, names) + hint + way);
}

/** A profile named on the command line overrides the environment. */
export function keyOf(
  options: GlobalOptions,
  env: Env,
  profile: Profile | undefined,
  named: boolean,
): KeySource {
  if (options.apiKeyFile !== undefined) return { kind: 'file', file: options.apiKeyFile };
  const own: KeySource =
    profile?.key_command !== undefined
      ? { kind: 'command', command: profile.key_command, isSaved: true }
      : profile?.api_key !== undefined
        ? { kind: 'stored', key: profile.api_key }
        : { kind: 'none' };
  if (named && own.kind !== 'none') return own;
  return env.URTUU_API_KEY ? { kind: 'environment', key: env.URTUU_API_KEY } : own;
}
