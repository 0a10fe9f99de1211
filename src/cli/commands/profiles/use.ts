import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { namedProfile } from './named.js';

export const profilesUse: CommandBody<'io' | 'config'> = (command, { io, config }) => {
  command.argument('<name>', 'name of the profile');
  addHelp(command, {
    effects: ['changes'],
    examples: [
      ['urtuu profiles use work', 'switch to a profile'],
      ['urtuu --profile work balance', 'use a profile for one command'],
    ],
    exits: [],
  });
  command.action(async (name: string) => {
    await config.change((now) => {
      namedProfile(now, name);
      return { ...now, current: name };
    });
    io.note(`Now using profile ${name}.`);
  });
};
