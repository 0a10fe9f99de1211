import type { Command } from 'commander';
import { loadBody } from '../../src/cli/command.js';
import type { Context } from '../../src/cli/context.js';
import {
  type CommandHelp,
  commandHelpOf,
  exitMeaningsOf,
  jsonExamples,
} from '../../src/cli/help/command-help.js';
import { nameOf, visibleCommands } from '../../src/cli/help/command-tree.js';
import { buildProgram } from '../../src/cli/program.js';

type Entry = readonly [term: string, description: string];

/** A command as its help describes it. */
export interface CommandReference {
  /** `urtuu sms send` */
  name: string;
  summary: string;
  description: string;
  usage: string;
  arguments: readonly Entry[];
  options: readonly Entry[];
  notes: readonly string[];
  examples: CommandHelp['examples'];
  /** Examples of the JSON with their labels. */
  json: readonly Entry[];
  exits: readonly Entry[];
}

/** Bodies only take their parts of it; nothing runs. */
const context = { io: {}, network: {}, config: {}, clock: {} } as unknown as Context;

export const program = (): Command =>
  buildProgram(context, { write: () => {}, width: 80 }, { first: undefined, onCommand() {} });

/** Every command that people call, in the order of the tree. */
export async function readCommands(): Promise<CommandReference[]> {
  const found: CommandReference[] = [];
  const visit = async (command: Command): Promise<void> => {
    await loadBody(command, context);
    const help = commandHelpOf(command);
    if (help !== undefined) found.push(reference(command, help));
    for (const each of visibleCommands(command)) await visit(each);
  };
  for (const command of visibleCommands(program())) await visit(command);
  return found;
}

function reference(command: Command, help: CommandHelp): CommandReference {
  const helper = command.createHelp();
  return {
    name: nameOf(command),
    summary: command.summary(),
    description: command.description(),
    usage: `${nameOf(command)} ${command.usage()}`,
    arguments: helper
      .visibleArguments(command)
      .map((each) => [helper.argumentTerm(each), helper.argumentDescription(each)]),
    options: helper
      .visibleOptions(command)
      .map((each) => [helper.optionTerm(each), helper.optionDescription(each)]),
    notes: help.notes ?? [],
    examples: help.examples,
    json: jsonExamples(help),
    exits: Object.entries(exitMeaningsOf(help)),
  };
}
