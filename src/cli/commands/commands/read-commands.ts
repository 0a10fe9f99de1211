import type { Argument, Command, Option } from 'commander';
import { exitMeanings } from '../../exit-codes.js';
import {
  type CommandHelp,
  commandHelpOf,
  type Effects,
  exitMeaningsOf,
  jsonExamples,
} from '../../help/command-help.js';
import { nameOf, visibleCommands } from '../../help/command-tree.js';
import { choicesOf } from '../../options.js';

interface Value {
  name: string;
  required: boolean;
  /** `boolean`, `choice`, `number`, `duration`, `time`, `file`, `folder`, `url` or `text`. */
  type: string;
  choices: readonly string[];
  /** As typed on a command line; null if the description explains it. */
  default: string | null;
  description: string;
}

/** A command, as described by its help. */
export interface CommandRow {
  /** `urtuu sms send` */
  name: string;
  effects: Effects;
  summary: string;
  description: string;
  usage: string;
  arguments: readonly (Value & { variadic: boolean })[];
  options: readonly (Value & { flags: string })[];
  exits: readonly { code: number; meaning: string }[];
  /** Examples of what `--json` prints, each `with --dry-run`, `of one id` or similar; null if there is only one. */
  json: readonly { when: string | null; fields: readonly string[]; example: unknown }[];
  notes: readonly string[];
  examples: readonly { line: string; purpose: string }[];
}

/** The public commands, in the order of the tree, starting from a group or a command. */
export async function readCommands(
  from: Command,
  load: (command: Command) => Promise<void>,
): Promise<CommandRow[]> {
  await load(from);
  const help = from.parent === null ? wholeProgram : commandHelpOf(from);
  const rows = help === undefined ? [] : [rowOf(from, help)];
  for (const each of visibleCommands(from)) rows.push(...(await readCommands(each, load)));
  return rows;
}

/** `urtuu` alone prints its help. */
const wholeProgram: CommandHelp = {
  effects: ['reads'],
  examples: [],
  exits: Object.keys(exitMeanings).map(Number) as CommandHelp['exits'],
};

function rowOf(command: Command, help: CommandHelp): CommandRow {
  const helper = command.createHelp();
  const isProgram = command.parent === null;
  // Help describes the options of every command in a topic.
  const hidden = isProgram ? command.options.filter((each) => each.hidden) : [];
  return {
    name: nameOf(command),
    effects: help.effects,
    summary: isProgram ? 'Send SMS and email' : command.summary(),
    description: isProgram ? 'Options and exit codes of every command.' : command.description(),
    usage: `${nameOf(command)} ${command.usage()}`,
    arguments: command.registeredArguments.map((each) => ({
      name: each.name(),
      required: each.required,
      variadic: each.variadic,
      ...describedValue(each, each.name(), helper.argumentDescription(each)),
    })),
    options: [...hidden, ...helper.visibleOptions(command)].map((each) => ({
      name: each.long ?? each.short ?? each.flags,
      flags: helper.optionTerm(each),
      required: each.mandatory,
      ...describedValue(each, /[<[](.*)[>\]]/.exec(each.flags)?.[1], helper.optionDescription(each)),
    })),
    exits: Object.entries(isProgram ? exitMeanings : exitMeaningsOf(help)).map(([code, meaning]) => ({
      code: Number(code),
      meaning,
    })),
    json: jsonExamples(help).map(([label, text]) => {
      const example = JSON.parse(text);
      return { when: label || null, fields: Object.keys([example].flat()[0]), example };
    }),
    notes: help.notes ?? [],
    examples: help.examples.map(([line, purpose]) => ({ line, purpose })),
  };
}

function describedValue(value: Argument | Option, placeholder: string | undefined, description: string) {
  const choices = choicesOf(value);
  const type = choices.length > 0 ? 'choice' : typeOf(placeholder);
  return { type, choices, default: /\(default ([^:)]+)\)$/.exec(description)?.[1] ?? null, description };
}

/** The type of a value by its placeholder in help; an option without one is boolean. */
function typeOf(placeholder: string | undefined): string {
  if (placeholder === undefined) return 'boolean';
  if (/^(?:n|credits|digits|port)$/.test(placeholder)) return 'number';
  return /^(?:duration|time|file|folder|url)$/.test(placeholder) ? placeholder : 'text';
}
