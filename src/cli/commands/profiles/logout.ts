import type { CommandBody } from '../../command.js';
import { describe } from '../../command-help.js';
import type { ConfigFile } from '../../config/profiles.js';
import { profileNameOf } from '../../config/settings.js';
import { confirmed } from '../../input/required.js';
import { namedProfile } from './named.js';

export const logout: CommandBody = (command, context) => {
  command.description('Remove a profile and the key it keeps. The key itself stays valid.');
  describe(command, {
    examples: [
      ['urtuu logout', 'remove the current profile'],
      ['urtuu logout --profile work --yes', 'remove a profile without the question'],
    ],
    exits: [],
  });
  command.action(async () => {
    const config = await context.config.read();
    const name = profileNameOf(context.options, context.config.env, config);
    await namedProfile(context, name);
    await confirmed(context, `Remove profile ${name} and its key?`);
    await context.config.write(without(config, name));
    context.io.note(`Removed profile ${name}.`);
  });
};

function without({ current, profiles }: ConfigFile, name: string): ConfigFile {
  const { [name]: _, ...rest } = profiles;
  return { ...(current === undefined || current === name ? {} : { current }), profiles: rest };
}
