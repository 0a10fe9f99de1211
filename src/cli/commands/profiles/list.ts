import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { profileExample } from '../../output/examples.js';
import { profileView } from './view.js';

export const profilesList: CommandBody<'io' | 'config'> = (command, { io, config }) => {
  addHelp(command, {
    view: profileView,
    effects: ['reads'],
    examples: [
      ['urtuu profiles list', 'all profiles'],
      ["urtuu profiles list --json | jq -r '.[].name'", 'their names'],
    ],
    exits: [],
    json: `[${profileExample}]`,
  });
  command.action(async () => {
    const { current, profiles } = await config.read();
    const rows = Object.entries(profiles).map(([name, profile]) => ({
      name,
      profile,
      current: name === current,
    }));
    await io.printAll(profileView, rows);
  });
};
