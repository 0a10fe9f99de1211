import type { CommandBody } from '../../command.js';
import { addHelp } from '../../command-help.js';
import { profileNameOf } from '../../config/settings.js';
import { profileExample } from '../../output/examples.js';
import { newProfile, type SignInOptions, tryKey } from './sign-in.js';
import { profileView } from './view.js';

export const login: CommandBody<'options' | 'io' | 'network' | 'config'> = (command, context) => {
  command
    .description('Save an API key in a profile, and use the profile from now on. Prompts for the key.')
    .option(
      '--key-command <command>',
      'save a command that prints the key instead (pass, secret-tool, security, op)',
    )
    .option('--allow-http', 'allow plain http to other machines, for this profile');
  addHelp(command, {
    view: profileView,
    examples: [
      ['urtuu login --base-url https://sms.example.mn/v1', 'prompt for the key'],
      ["urtuu login --profile work --key-command 'pass show urtuu'", 'leave the key in a password store'],
    ],
    exits: [4, 12],
    json: profileExample,
  });
  command.action(async (options: SignInOptions) => {
    const { io, config } = context;
    const name = profileNameOf(context.options, config.env, {});
    const profile = await newProfile(context, name, options);
    await tryKey(context, profile);
    const { profiles } = await config.read();
    await config.write({ current: name, profiles: { ...profiles, [name]: profile } });
    await io.print(profileView, { name, profile, current: true });
  });
};
