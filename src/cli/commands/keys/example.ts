import { randomInt } from 'node:crypto';
import { newApiKey } from '../../../contract/index.js';
import type { CommandBody } from '../../command.js';
import { addHelp } from '../../help/command-help.js';

export const keysExample: CommandBody<'io'> = (command, { io }) => {
  command.description(
    'Print a new key for tests. It works only with a service started with it in URTUU_SANDBOX_KEY.',
  );
  addHelp(command, {
    effects: ['reads'],
    examples: [
      ['export URTUU_SANDBOX_KEY="$(urtuu keys example)"', 'before urtuu serve, in a script of tests'],
      ['urtuu keys example > key.txt', 'save it in a file'],
    ],
    exits: [],
  });
  command.action(() => io.printer.text(`${newApiKey((limit) => randomInt(limit))}\n`));
};
