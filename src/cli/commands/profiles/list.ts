import type { CommandBody } from '../../command.js';
import { describe } from '../../command-help.js';
import { profileExample } from '../../output/examples.js';
import { profileView } from './view.js';

export const profilesList: CommandBody = (command, context) => {
  describe(command, {
    view: profileView,
    examples: [
      ['urtuu profiles list', 'which profiles there are'],
      ["urtuu profiles list --json | jq -r '.[].name'", 'their names'],
    ],
    exits: [],
    json: `[${profileExample}]`,
  });
  command.action(async () => {
    const { current, profiles } = await context.config.read();
    const rows = Object.entries(profiles).map(([name, profile]) => ({
      name,
      profile,
      current: name === current,
    }));
    await context.io.printAll(profileView, rows);
  });
};
