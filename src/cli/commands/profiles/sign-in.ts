import { UrtuuError } from '../../../client/index.js';
import { defaultBaseUrl } from '../../../contract/index.js';
import { checkBaseUrl } from '../../config/base-url.js';
import { envFlag } from '../../config/env-flag.js';
import { checkedKey, isKey, readKey } from '../../config/key.js';
import { isProfileName, type Profile } from '../../config/profiles.js';
import { allowsHttp } from '../../config/settings.js';
import type { Context } from '../../context.js';
import { usageError } from '../../errors.js';
import { exitOfFailure, exits } from '../../exit-codes.js';
import { confirmed, required } from '../../input/required.js';
import { cannotRead, readableBalance } from '../../network/readable-balance.js';

export interface SignInOptions {
  keyCommand?: string;
  allowHttp?: boolean;
  localTo?: string;
}

type Needs = Pick<Context, 'options' | 'io' | 'network' | 'config'>;

/** A profile from the options; everything else stays as in the profile of that name. */
export async function newProfile(
  { options, io, config }: Needs,
  name: string,
  { keyCommand, allowHttp: allow, localTo }: SignInOptions,
): Promise<Profile> {
  const { apiKeyFile, baseUrl } = options;
  if (!isProfileName(name)) {
    throw usageError(`invalid profile name '${name}'`, 'Use letters, digits, . _ -');
  }
  if (apiKeyFile !== undefined && keyCommand !== undefined) {
    throw usageError(
      '--api-key-file and --key-command cannot be combined',
      'Save the key or the command that prints it.',
    );
  }
  const { profiles } = await config.read();
  const before = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  const url = baseUrl ?? config.env.URTUU_BASE_URL ?? before?.base_url ?? defaultBaseUrl;
  const allowHttp = allow ?? allowsHttp(before, url);
  const isHttpAllowed = allowHttp || envFlag(config.env, 'URTUU_ALLOW_HTTP');
  const local = localTo ?? before?.local_to;
  const place = {
    base_url: checkBaseUrl(url, isHttpAllowed),
    ...(allowHttp ? { allow_http: true } : {}),
    ...(local === undefined ? {} : { local_to: local }),
  };
  // A key cannot be shown again: whoever is prompted for the new one is asked before another service's is replaced.
  if (before?.base_url !== undefined && before.base_url !== place.base_url) {
    const isAsked = io.canPrompt && apiKeyFile === undefined && keyCommand === undefined;
    if (isAsked)
      await confirmed({ io, options }, `Replace profile ${name}, which is for ${before.base_url}?`);
    else io.note(`Replacing profile ${name}, which was for ${before.base_url}.`);
  }
  if (keyCommand !== undefined) return { ...place, key_command: keyCommand };
  const given = apiKeyFile === undefined ? undefined : await io.files.text(apiKeyFile);
  const { key } = await required(io, {
    key: {
      value: given,
      name: '--api-key-file or --key-command',
      question: `API key for ${place.base_url}:`,
      secret: true,
      check: isKey,
    },
  });
  return { ...place, api_key: checkedKey(key) };
}

/** Throws if the service does not know the key; only warns if it cannot be reached. */
export async function tryKey(
  { io, network, config }: Needs,
  { api_key: key = '', key_command: command, base_url: baseUrl = defaultBaseUrl, allow_http }: Profile,
): Promise<void> {
  const source =
    command === undefined
      ? ({ kind: 'stored', key } as const)
      : ({ kind: 'command', command, isSaved: false } as const);
  const apiKey = await readKey(source, io.files, config.platform);
  const allowHttp = allow_http === true || envFlag(config.env, 'URTUU_ALLOW_HTTP');
  const client = await network.clientWith(apiKey, baseUrl, allowHttp);
  try {
    const balance = await io.withProgress('Trying the key', () => readableBalance(client));
    if (balance === null) io.note(cannotRead);
  } catch (error) {
    if (!(error instanceof UrtuuError) || exitOfFailure(error, 'reading') !== exits.later) throw error;
    io.warn(`the key could not be checked: ${error.message}`);
  }
}
