import type { CommandBody } from '../command.js';
import { usageError } from '../errors.js';
import { topics } from '../topics/index.js';

export const help: CommandBody = (command, context) => {
  command
    .description('Show help on a topic or a command.')
    .argument('[topic...]', Object.keys(topics).join(', '));
  command.action(async (words: string[]) => {
    const name = words.join(' ');
    const topic = Object.hasOwn(topics, name) ? topics[name] : undefined;
    if (name !== '' && topic === undefined) throw unknown(name);
    await context.io.printer.text(topic?.text ?? list());
  });
};

const list = () =>
  [
    'urtuu --help shows the commands, urtuu help COMMAND one of them. Topics:',
    '',
    ...Object.entries(topics).map(([name, { summary }]) => `  urtuu help ${name.padEnd(12)} ${summary}`),
    '',
  ].join('\n');

const unknown = (name: string) =>
  usageError(
    `there is no command and no help topic '${name}'`,
    `The topics are ${Object.keys(topics).join(', ')}; the commands: urtuu --help`,
  );
