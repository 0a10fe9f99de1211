import type { CommandBody } from '../../command.js';
import { describe } from '../../command-help.js';
import { profileNameOf } from '../../config/settings.js';
import { newProfile, type SignInOptions, tryKey } from '../../config/sign-in.js';
import { profileExample } from '../../output/examples.js';
import { profileView } from './view.js';

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
    exits: [4, 12],
    json: profileExample,
  });
  command.action(async (options: SignInOptions) => {
    const name = profileNameOf(context.options, context.config.env, {});
    const config = await context.config.read();
    const profile = await newProfile(context, config, name, options);
    await tryKey(context, profile);
    await context.config.write({ current: name, profiles: { ...config.profiles, [name]: profile } });
    await context.io.print(profileView, { name, profile, current: true });
  });
};
