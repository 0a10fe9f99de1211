import type { Command } from 'commander';
import type { CommandBody } from '../command.js';
import { type CliError, usageError } from '../errors.js';
import { addHelp } from '../help/command-help.js';
import { similarCommands } from '../help/command-tree.js';
import { nearest, suggestionOf } from '../text/suggest.js';
import { topics } from '../topics/index.js';

export const help: CommandBody<'io'> = (command, { io }) => {
  command
    .description('Show help on a topic or a command.')
    .argument('[topic...]', Object.keys(topics).join(', '));
  addHelp(command, {
    effects: ['reads'],
    examples: [
      ['urtuu help exit-codes', 'a topic'],
      ['urtuu help sms send', 'the same as urtuu sms send --help'],
    ],
    exits: [],
  });
  command.action(async (words: string[], _, { parent }: Command) => {
    const name = words.join(' ');
    const topic = Object.hasOwn(topics, name) ? topics[name] : undefined;
    if (name !== '' && topic === undefined) throw unknown(words, parent ?? command);
    await io.printer.page(topic?.text() ?? list());
  });
};

const list = () =>
  [
    'Topics:',
    ...Object.entries(topics).map(([name, { summary }]) => `  urtuu help ${name.padEnd(12)} ${summary}`),
    '',
    'Commands:',
    `  ${'urtuu'.padEnd(23)} list them`,
    `  ${'urtuu <command> --help'.padEnd(23)} show one`,
    '',
  ].join('\n');

function unknown(words: readonly string[], program: Command): CliError {
  const name = words.join(' ');
  const near = nearest(name, Object.keys(topics));
  const found =
    near.length > 0 ? near.map((topic) => `urtuu ${topic}`) : similarCommands(program, words.at(-1) ?? '');
  const suggestion = suggestionOf(found.map((each) => each.replace(/^urtuu /, 'urtuu help ')));
  return usageError(
    `no command or help topic '${name}'`,
    `${suggestion}Topics: ${Object.keys(topics).join(', ')}. Commands: urtuu --help`,
  );
}
