import type { CommandBody } from '../../../command.js';
import { CliError } from '../../../errors.js';
import { exits } from '../../../exit-codes.js';
import { addHelp } from '../../../help/command-help.js';
import { wantedRecipient } from '../../../input/recipients.js';
import { addProjectOption, ownedProject, type ProjectOptions } from '../project.js';
import { addStoreOptions } from '../store.js';

export const serviceSuppressionsRemove: CommandBody<'io' | 'network' | 'config'> = (command, context) => {
  command
    .description('Send to a suppressed recipient again, from the next message on.')
    .argument('<recipient>', 'number or address');
  addProjectOption(command);
  addStoreOptions(command);
  addHelp(command, {
    effects: ['changes'],
    examples: [
      ['urtuu service suppressions remove bold@example.com', 'an address that works again'],
      ['urtuu service suppressions remove 99112233 --project Shop', 'a number, in one project'],
    ],
    exits: [8, 12],
  });
  command.action(async (written: string, options: ProjectOptions) => {
    const recipient = wantedRecipient(written);
    const { project } = await ownedProject(context, options);
    const shown = context.io.printer.recipient(recipient);
    if (await project.suppressions.remove(recipient)) {
      context.io.note(`Removed ${shown}.`);
      return;
    }
    throw new CliError('not_found', exits.missing, `${shown} is not suppressed`, {
      hint: 'See: `urtuu service suppressions list`',
    });
  });
};
