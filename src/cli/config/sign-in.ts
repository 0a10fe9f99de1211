import { UrtuuError } from '../../client/index.js';
import { defaultBaseUrl } from '../../contract/index.js';
import type { Context } from '../context.js';
import { usageError } from '../errors.js';
import { exitOfFailure, exits } from '../exit-codes.js';
import { required } from '../input/required.js';
import { checkBaseUrl } from './base-url.js';
import { envFlag } from './env-flag.js';
import { checkedKey, readKey } from './key.js';
import { type ConfigFile, isProfileName, type Profile } from './profiles.js';

export interface SignInOptions {
  keyCommand?: string;
  allowHttp?: boolean;
}

/** The profile that a login makes of what is given, and of the profile of that name as it was. */
export async function newProfile(
  context: Context,
  { profiles }: ConfigFile,
  name: string,
  options: SignInOptions,
): Promise<Profile> {
  if (!isProfileName(name))
    throw usageError(`'${name}' cannot be the name of a profile`, 'Use letters, digits, . _ -');
  const { apiKeyFile, baseUrl } = context.options;
  if (apiKeyFile !== undefined && options.keyCommand !== undefined) {
    throw usageError(
      '--api-key-file and --key-command exclude each other',
      'Keep the key, or the command that prints it.',
    );
  }
  const before = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  const allowHttp = options.allowHttp ?? before?.allow_http ?? false;
  const url = baseUrl ?? context.config.env.URTUU_BASE_URL ?? before?.base_url ?? defaultBaseUrl;
  const allowed = allowHttp || envFlag(context.config.env, 'URTUU_ALLOW_HTTP');
  const place = { base_url: checkBaseUrl(url, allowed), ...(allowHttp ? { allow_http: true } : {}) };
  if (options.keyCommand !== undefined) return { ...place, key_command: options.keyCommand };
  const { key } = await required(context.io, {
    key: {
      value: apiKeyFile === undefined ? undefined : await context.io.files.text(apiKeyFile),
      name: '--api-key-file',
      question: 'API key:',
      secret: true,
    },
  });
  return { ...place, api_key: checkedKey(key) };
}

/** A key the service refuses is not kept; that the service cannot be reached now is no reason against it. */
export async function tryKey(context: Context, profile: Profile): Promise<void> {
  const { api_key: key, key_command: command, base_url: baseUrl = defaultBaseUrl } = profile;
  const source =
    command !== undefined
      ? ({ kind: 'command', command } as const)
      : ({ kind: 'stored', key: key ?? '' } as const);
  const apiKey = await readKey(source, context.io.files, context.config.platform);
  const allowHttp = profile.allow_http === true || envFlag(context.config.env, 'URTUU_ALLOW_HTTP');
  const client = await context.network.clientWith(apiKey, baseUrl, allowHttp);
  try {
    await context.io.withProgress('Trying the key', () => client.balance.get());
  } catch (error) {
    if (!(error instanceof UrtuuError) || exitOfFailure(error, 'reading') !== exits.later) throw error;
    context.io.warn(`the key could not be tried: ${error.message}`);
  }
}
