import type { CommandBody } from '../../command.js';
import { CliError } from '../../errors.js';
import { exits } from '../../exit-codes.js';
import { addHelp } from '../../help/command-help.js';
import { field, type View } from '../../output/view.js';
import { writePrivateFile } from '../../platform/write-private-file.js';
import { defaultName, listenersNamed, skipFileOf } from './listener.js';

interface Skipped {
  id: string;
  name: string;
}

const view: View<Skipped> = { columns: [field('id'), field('name')], record: (row) => row };

export const eventsSkip: CommandBody<'io' | 'network' | 'config'> = (command, context) => {
  command
    .description(
      'Skip the event that a listener is stuck at because its program never takes it. The listener continues within 30 s, or when it runs again.',
    )
    .argument('<id>', 'id of the event, as the listener prints it')
    .option('--name <name>', 'the listener', defaultName);
  addHelp(command, {
    view,
    effects: ['changes'],
    examples: [
      ['urtuu events skip 5f3c0a9e1b2d-17', 'continue with the next event'],
      ['urtuu events skip 5f3c0a9e1b2d-17 --name billing', 'of another listener'],
    ],
    json: '{"id": "5f3c0a9e1b2d-17", "name": "default"}',
    exits: [4, 12],
  });
  command.action(async (written: string, { name }: { name: string }) => {
    const id = written.toLowerCase();
    const { folder, place } = (await listenersNamed(context, name)).own;
    const refused = place?.refused;
    if (refused !== id) {
      const where = refused ? `another event: ${refused}` : 'no event';
      throw new CliError('not_found', exits.missing, `the listener ${name} waits at ${where}`, {
        hint: 'You can skip only the event that was not taken. The listener prints its id.',
      });
    }
    await writePrivateFile(skipFileOf(folder), id);
    await context.io.print(view, { id, name });
  });
};
