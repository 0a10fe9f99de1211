import { defaultProfile } from '../../config/profiles.js';
import { describe } from '../../describe.js';
import { usageError } from '../../errors.js';
import { confirmed } from '../../input/required.js';
import type { CommandBody } from '../../program.js';

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
    const { current, profiles } = await context.config.read();
    const name = context.options.profile ?? context.env.URTUU_PROFILE ?? current ?? defaultProfile;
    if (profiles[name] === undefined) throw usageError(`there is no profile '${name}'`);
    await confirmed(context, `Remove profile ${name} and its key?`);
    const { [name]: _, ...rest } = profiles;
    const next = current === name || current === undefined ? {} : { current };
    await context.config.write({ ...next, profiles: rest });
    context.note(`Removed profile ${name}.`);
  });
};
