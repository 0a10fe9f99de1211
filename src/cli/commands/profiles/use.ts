import type { CommandBody } from '../../command.js';
import { describe } from '../../command-help.js';
import { namedProfile } from './named.js';

export const profilesUse: CommandBody = (command, context) => {
  command.argument('<name>', 'name of the profile');
  describe(command, {
    examples: [
      ['urtuu profiles use work', 'use a profile from now on'],
      ['urtuu --profile work balance', 'use it for one command'],
    ],
    exits: [],
  });
  command.action(async (name: string) => {
    await namedProfile(context, name);
    await context.config.write({ ...(await context.config.read()), current: name });
    context.io.note(`Now using profile ${name}.`);
  });
};
