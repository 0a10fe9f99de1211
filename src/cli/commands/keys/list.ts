import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';
import { ownedProject, type ProjectOptions } from '../service/project.js';
import { noteStore } from '../service/store.js';
import { addKeyOptions, keyView, viewOfKeys } from './data.js';

export const keyList =
  (name: string): CommandBody<'io' | 'network' | 'config'> =>
  (command, context) => {
    const view = keyView(name);
    addKeyOptions(command);
    addHelp(command, {
      view,
      effects: ['reads'],
      examples: [
        [`${name} list`, 'the keys of urtuu serve by their first 12 characters'],
        [`${name} list --data /srv/urtuu --json`, 'keys of another data folder'],
      ],
      exits: [12],
      json: '[{"id": "3f0a...7d", "prefix": "urtuu_4bTq9x", "label": "deploy", "created_by": null, "scope": ["send", "read"], "created_at": "2026-11-21T08:00:00.000Z", "expires_at": null, "last_used_at": "2026-11-21T09:30:00.000Z", "revoked_at": null}]',
    });
    command.action(async (options: ProjectOptions) => {
      const store = await ownedProject(context, options);
      const { io } = context;
      const keys = await store.project.listKeys();
      await io.printAll(viewOfKeys(view, keys), keys);
      noteStore(io, store);
    });
  };

export const keysList = keyList('urtuu keys');
