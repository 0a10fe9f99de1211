import type { CommandBody } from '../../command.js';
import { profileNameOf } from '../../config/settings.js';
import { addHelp } from '../../help/command-help.js';
import { profileExample } from '../../output/examples.js';
import { namedProfile } from './named.js';
import { profileView } from './view.js';

export const profilesShow: CommandBody<'options' | 'io' | 'config'> = (command, context) => {
  command.argument('[name]', 'name of the profile (default: the one in use)');
  addHelp(command, {
    view: profileView,
    effects: ['reads'],
    examples: [
      ['urtuu profiles show', 'the profile in use, without its key'],
      ['urtuu profiles show work --json | jq -r .base_url', 'one value of a profile'],
    ],
    exits: [],
    json: profileExample,
  });
  command.action(async (given: string | undefined) => {
    const config = await context.config.read();
    const name = given ?? profileNameOf(context.options, context.config.env, config);
    const profile = namedProfile(config, name);
    await context.io.print(profileView, { name, profile, current: name === config.current });
  });
};
