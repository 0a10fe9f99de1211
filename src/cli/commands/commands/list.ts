import type { Command } from 'commander';
import { type CommandBody, loadBody } from '../../command.js';
import { usageError } from '../../errors.js';
import { addHelp } from '../../help/command-help.js';
import { commandsOf, similarCommands } from '../../help/command-tree.js';
import { field, type View } from '../../output/view.js';
import { suggestionOf } from '../../text/suggest.js';
import { type CommandRow, readCommands } from './read-commands.js';

/** The values of a list, for people and csv. */
const list = (name: keyof CommandRow, of: (row: CommandRow) => readonly (string | number)[]) => ({
  name,
  value: (row: CommandRow) => of(row).join(', '),
  detail: true,
});

const effects = { ...list('effects', (row) => row.effects), detail: false };

const view: View<CommandRow> = {
  columns: [
    field('name'),
    effects,
    field('summary'),
    field('description', { detail: true }),
    field('usage', { detail: true }),
    list('arguments', (row) => row.arguments.map(({ name }) => name)),
    list('options', ({ options }) => options.map(({ name }) => name)),
    list('exits', ({ exits }) => exits.map(({ code }) => code)),
    list('json', ({ json }) => [...new Set(json.flatMap(({ fields }) => fields))]),
    list('notes', ({ notes }) => notes),
    list('examples', ({ examples }) => examples.map(({ line }) => line)),
  ],
  record: (row) => row,
};

export const commands: CommandBody = (command, context) => {
  command
    .description('List the commands. For programs, --json has everything in their help.')
    .argument('[command...]', 'only this one, or those of a group');
  addHelp(command, {
    view,
    effects: ['reads'],
    notes: [
      'Effects of a command, at least with some options:',
      '  sends    messages to people',
      '  spends   credits, or an attempt of a verification',
      '  changes  data, settings or keys, and sends nothing',
      '  reads    none of these',
      'The first row, urtuu, has the options and exit codes of every command.',
    ],
    examples: [
      ['urtuu commands', 'list all'],
      ['urtuu commands sms send --json', 'arguments, options, exit codes and JSON of one'],
    ],
    exits: [],
    json: `[${example}]`,
  });
  command.action(async (words: string[], _, { parent }: Command) => {
    const from = commandNamed(words, parent ?? command);
    const load = async (each: Command) => {
      if (each !== command && each.parent !== null) await loadBody(each, context);
    };
    await context.io.printAll(view, await readCommands(from, load));
  });
};

const example =
  '{"name": "urtuu balance", "effects": ["reads"], "summary": "Show the credit balance", "description": "Show the credit balance.", "usage": "urtuu balance [options]", "arguments": [], "options": [{"name": "--min", "flags": "--min <credits>", "required": false, "type": "number", "choices": [], "default": null, "description": "..."}], "exits": [{"code": 0, "meaning": "done"}], "json": [{"when": null, "fields": ["balance"], "example": {"balance": 12340}}], "notes": [], "examples": [{"line": "urtuu balance --min 1000", "purpose": "..."}]}';

function commandNamed(words: readonly string[], program: Command): Command {
  let found: Command | undefined = program;
  for (const word of words) found = found && commandsOf(found).find((each) => each.name() === word);
  if (found !== undefined) return found;
  const suggestion = suggestionOf(similarCommands(program, words.at(-1) ?? ''));
  throw usageError(`no command '${words.join(' ')}'`, `${suggestion}See: \`urtuu commands\``);
}
