import type { CommandBody } from '../../command.js';
import type { ConfigFile } from '../../config/profiles.js';
import { profileNameOf } from '../../config/settings.js';
import { addHelp } from '../../help/command-help.js';
import { confirmed } from '../../input/required.js';
import { namedProfile } from './named.js';

export const logout: CommandBody<'options' | 'io' | 'config'> = (command, context) => {
  command.description('Remove a profile and its saved key. Does not revoke the key.');
  addHelp(command, {
    effects: ['changes'],
    examples: [
      ['urtuu logout', 'remove the profile in use'],
      ['urtuu logout --profile work --yes', 'remove a profile without a prompt'],
    ],
    exits: [],
  });
  command.action(async () => {
    const config = await context.config.read();
    const name = profileNameOf(context.options, context.config.env, config);
    await namedProfile(context.config, name);
    await confirmed(context, `Remove profile ${name} and its key?`);
    await context.config.write(without(config, name));
    context.io.note(`Removed profile ${name}.`);
  });
};

function without({ current, profiles }: ConfigFile, name: string): ConfigFile {
  const { [name]: _, ...rest } = profiles;
  return { ...(current === undefined || current === name ? {} : { current }), profiles: rest };
}
