import type { CommandBody } from '../command.js';
import { usageError } from '../errors.js';
import { topics } from '../topics/index.js';

export const help: CommandBody<'io'> = (command, { io }) => {
  command
    .description('Show help on a topic or a command.')
    .argument('[topic...]', Object.keys(topics).join(', '));
  command.action(async (words: string[]) => {
    const name = words.join(' ');
    const topic = Object.hasOwn(topics, name) ? topics[name] : undefined;
    if (name !== '' && topic === undefined) throw unknown(name);
    await io.printer.text(topic?.text() ?? list());
  });
};

const list = () =>
  [
    'urtuu --help lists the commands, urtuu help COMMAND shows one. Topics:',
    '',
    ...Object.entries(topics).map(([name, { summary }]) => `  urtuu help ${name.padEnd(12)} ${summary}`),
    '',
  ].join('\n');

const unknown = (name: string) =>
  usageError(
    `no command or help topic '${name}'`,
    `Topics: ${Object.keys(topics).join(', ')}. Commands: urtuu --help`,
  );
