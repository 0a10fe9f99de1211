import { UrtuuError } from '../../../client/index.js';
import { defaultBaseUrl } from '../../../contract/index.js';
import { checkBaseUrl } from '../../config/base-url.js';
import { checkedKey, readKey } from '../../config/key.js';
import { defaultProfile, isProfileName, type Profile } from '../../config/profiles.js';
import type { Context } from '../../context.js';
import { describe } from '../../describe.js';
import { usageError } from '../../errors.js';
import { exitOfFailure, exits } from '../../exit-codes.js';
import { required } from '../../input/required.js';
import type { CommandBody } from '../../program.js';
import { profileView } from './view.js';

interface Options {
  keyCommand?: string;
  allowHttp?: boolean;
}

export const login: CommandBody = (command, context) => {
  command
    .description(
      'Keep an API key in a profile, and use that profile from now on. The key is asked for, unseen.',
    )
    .option(
      '--key-command <command>',
      'keep no key, but a command that prints it (pass, secret-tool, security, op)',
    )
    .option('--allow-http', 'allow plain http beyond this machine, for this profile');
  describe(command, {
    view: profileView,
    examples: [
      ['urtuu login --base-url https://sms.example.mn/v1', 'the key is asked for'],
      ["urtuu login --profile work --key-command 'pass show urtuu'", 'the key stays in the password store'],
    ],
    exits: [4, 5],
    json: '{"name": "default", "current": true, "base_url": "https://sms.example.mn/v1", "key": "stored"}',
  });
  command.action(async (options: Options) => {
    const name = context.options.profile ?? context.env.URTUU_PROFILE ?? defaultProfile;
    const config = await context.config.read();
    const profile = await profileOf(context, config.profiles[name], name, options);
    await tryKey(context, profile);
    await context.config.write({ current: name, profiles: { ...config.profiles, [name]: profile } });
    await context.print(profileView, { name, profile, current: true });
  });
};

async function profileOf(
  context: Context,
  before: Profile | undefined,
  name: string,
  options: Options,
): Promise<Profile> {
  if (!isProfileName(name))
    throw usageError(`'${name}' cannot be the name of a profile`, 'Use letters, digits, . _ -');
  const { apiKeyFile, baseUrl } = context.options;
  if (apiKeyFile !== undefined && options.keyCommand !== undefined) {
    throw usageError('--api-key-file and --key-command exclude each other');
  }
  const allowHttp = options.allowHttp ?? before?.allow_http ?? false;
  const url = baseUrl ?? context.env.URTUU_BASE_URL ?? before?.base_url ?? defaultBaseUrl;
  const place = { base_url: checkBaseUrl(url, allowHttp), ...(allowHttp ? { allow_http: true } : {}) };
  if (options.keyCommand !== undefined) return { ...place, key_command: options.keyCommand };
  const { key } = await required(context, {
    key: {
      value: apiKeyFile === undefined ? undefined : await context.files.text(apiKeyFile),
      name: '--api-key-file',
      question: 'API key:',
      secret: true,
    },
  });
  return { ...place, api_key: checkedKey(key) };
}

/** A key the service refuses is not kept; that the service cannot be reached now is no reason against it. */
async function tryKey(context: Context, profile: Profile): Promise<void> {
  const { api_key: key, key_command: command, base_url: baseUrl = defaultBaseUrl } = profile;
  const source =
    command !== undefined
      ? ({ kind: 'command', command } as const)
      : ({ kind: 'stored', key: key ?? '' } as const);
  const client = await context.clientWith(await readKey(source, context.files, context.platform), baseUrl);
  try {
    await context.during('Trying the key', () => client.balance.get());
  } catch (error) {
    if (!(error instanceof UrtuuError) || exitOfFailure(error, 'reading') !== exits.later) throw error;
    context.warn(`the key could not be tried: ${error.message}`);
  }
}
