import { isDeepStrictEqual } from 'node:util';
import type { CommandBody } from '../../command.js';
import type { ConfigFile } from '../../config/profiles.js';
import { profileNameOf } from '../../config/settings.js';
import { usageError } from '../../errors.js';
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
    const profile = namedProfile(config, name);
    await confirmed(context, `Remove profile ${name} and its key?`);
    await context.config.change((now) => {
      // A key that was saved during the prompt is not the one to remove.
      const left = now.profiles[name];
      if (left === undefined || isDeepStrictEqual(left, profile)) return without(now, name);
      const hint = 'To see the profile: `urtuu profiles show`';
      throw usageError(`profile ${name} was changed by another command`, hint);
    });
    context.io.note(`Removed profile ${name}.`);
  });
};

function without({ current, profiles }: ConfigFile, name: string): ConfigFile {
  const { [name]: _, ...rest } = profiles;
  return { ...(current === undefined || current === name ? {} : { current }), profiles: rest };
}
