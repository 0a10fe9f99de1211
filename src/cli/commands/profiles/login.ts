import type { CommandBody } from '../../command.js';
import { profileNameOf } from '../../config/settings.js';
import { addHelp } from '../../help/command-help.js';
import { readAddress } from '../../input/recipients.js';
import { profileExample } from '../../output/examples.js';
import { ensureShown, profileSavedAs } from '../../single/shown.js';
import { newProfile, type SignInOptions, tryKey } from './sign-in.js';
import { profileView } from './view.js';

export const login: CommandBody<'options' | 'io' | 'network' | 'config'> = (command, context) => {
  command
    .description(
      'Save an API key in a profile. Prompts for the key. The first profile becomes the current one.',
    )
    .option(
      '--key-command <command>',
      'save a command that prints the key instead (pass, secret-tool, security, op)',
    )
    .option('--allow-http', 'allow plain http to other machines, for this profile')
    .option('--local-to <address>', 'for sendmail: address for names without a domain', readAddress)
    .option('--use', 'use the profile from now on');
  addHelp(command, {
    view: profileView,
    effects: ['changes'],
    examples: [
      ['urtuu login --base-url https://sms.example.mn/v1', 'prompt for the key'],
      ["urtuu login --profile work --key-command 'pass show urtuu'", 'leave the key in a password store'],
    ],
    exits: [4, 12],
    json: profileExample,
  });
  command.action(async ({ use: isUsed, ...options }: SignInOptions & { use?: boolean }) => {
    const { io, config } = context;
    const before = await config.read();
    // A new address does not change the profile in use.
    const name = profileNameOf(context.options, config.env, context.options.baseUrl ? {} : before);
    const profile = await newProfile(context, name, options);
    await tryKey(context, profile);
    const { current: inUse } = await config.change(({ current = name, profiles }) => ({
      current: isUsed ? name : current,
      profiles: { ...profiles, [name]: profile },
    }));
    await io.print(profileView, { name, profile, current: name === inUse });
    ensureShown(io.printer, profileSavedAs(name));
    if (name === inUse) return;
    // It is about the profiles themselves.
    const use = config.commandLine(['profiles', 'use', name], {
      '--profile': undefined,
      '--base-url': undefined,
    });
    io.note(`Profile ${inUse} stays in use. To use this one:`, use);
  });
};
