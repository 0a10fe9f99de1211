import type { Command } from 'commander';
import { loadBody } from '../../src/cli/command.js';
import { type CommandRow, readCommands } from '../../src/cli/commands/commands/read-commands.js';
import type { Context } from '../../src/cli/context.js';
import { buildProgram } from '../../src/cli/program.js';

/** Bodies only take their parts of it; nothing runs. */
const context = { io: {}, network: {}, config: {}, clock: {} } as unknown as Context;

export const program = (): Command =>
  buildProgram(context, { write: () => {}, width: 80 }, { first: undefined, onCommand() {} });

/** Every command with a page of its own: all but the first, which is the program. */
export async function commandPages(): Promise<CommandRow[]> {
  const load = async (each: Command) => {
    if (each.parent !== null) await loadBody(each, context);
  };
  return (await readCommands(program(), load)).slice(1);
}
