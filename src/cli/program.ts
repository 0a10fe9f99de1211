import { Command } from 'commander';
import pkg from '../../package.json' with { type: 'json' };
import type { Context } from './context.js';
import { addGlobalOptions } from './options.js';

/** Adds a command's arguments, options, help and action; loaded only when the command is called. */
export type CommandBody = (command: Command, context: Context) => void;
type Leaf = readonly [name: string, summary: string, load: () => Promise<CommandBody>];
type Group = readonly [name: string, summary: string, commands: readonly Leaf[]];

/** The tree of commands. */
const tree: readonly (Leaf | Group)[] = [
  [
    'balance',
    'Show the credits that are left',
    async () => (await import('./commands/balance/get.js')).balance,
  ],
];

/** Where commander writes: help to standard output, nothing else; errors are thrown. */
export interface ProgramOutput {
  write(text: string): void;
  width: number;
}

/**
 * Commander's tree. The options of a command are read by the command itself, after its name: a text that
 * looks like a global option stays a text.
 */
export function buildProgram(
  context: Context,
  output: ProgramOutput,
  chosen: (command: Command) => void,
): Command {
  const program = new Command('urtuu')
    .description('Send SMS and email: single, in bulk from CSV files, exactly once.')
    .version(pkg.version, '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: output.write,
      writeErr: () => {},
      getOutHelpWidth: () => output.width,
      getOutHasColors: () => false,
    })
    .enablePositionalOptions()
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .showSuggestionAfterError();
  addGlobalOptions(program, false);
  const bodies = new Map<Command, Leaf[2]>();
  const add = (parent: Command, [name, summary, inside]: Leaf | Group) => {
    const command = parent.command(name).summary(summary).description(`${summary}.`);
    addGlobalOptions(command, true);
    if (typeof inside === 'function') {
      bodies.set(command, inside);
      return;
    }
    command.enablePositionalOptions().helpCommand(false);
    for (const leaf of inside) add(command, leaf);
    loadBefore(command);
  };
  const loadBefore = (parent: Command) =>
    parent.hook('preSubcommand', async (_, command) => {
      chosen(command);
      const body = await bodies.get(command)?.();
      body?.(command, context);
    });
  loadBefore(program);
  for (const entry of tree) add(program, entry);
  return program;
}
