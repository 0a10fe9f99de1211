import type { CommandBody } from '../../command.js';
import { describe } from '../../command-help.js';
import type { DataOptions } from '../sandbox/data.js';
import { addKeyDataOption, keyAdministration, keyView } from './data.js';

export const keysList: CommandBody = (command, context) => {
  addKeyDataOption(command);
  describe(command, {
    view: keyView,
    examples: [
      ['urtuu keys list', 'the keys of urtuu serve; never the keys themselves'],
      ['urtuu keys list --data /srv/urtuu --json', 'those of another folder'],
    ],
    exits: [],
    json: '[{"id": "3f0a...7d", "created_at": "2026-11-21T08:00:00.000Z", "revoked_at": null}]',
  });
  command.action(async (options: DataOptions) => {
    const service = await keyAdministration(context, options);
    await context.io.printAll(keyView, await service.listKeys());
  });
};
