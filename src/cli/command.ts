import type { Command } from 'commander';
import type { Context } from './context.js';
import { commandsOf } from './help/command-tree.js';
import { addGlobalOptions } from './options.js';

/**
 * Adds a command's arguments, options, help and action; loaded only when the command is called. `Needs`: the parts of
 * the context that it uses. Read `options` and `signal` in the action, because they are set late.
 */
export type CommandBody<Needs extends keyof Context = keyof Context> = (
  command: Command,
  context: Pick<Context, Needs>,
) => void;

export type Leaf = readonly [name: string, summary: string, load: () => Promise<CommandBody>];
export type Group = readonly [name: string, summary: string, commands: readonly (Leaf | Group)[]];

const bodies = new WeakMap<Command, () => Promise<CommandBody>>();

export function setBody(command: Command, load: () => Promise<CommandBody>): void {
  bodies.set(command, load);
}

/** Adds the global options to a command, and its body or subcommands, once. */
export async function loadBody(command: Command, context: Context): Promise<void> {
  addGlobalOptions(command);
  commandsOf(command);
  const body = await bodies.get(command)?.();
  bodies.delete(command);
  body?.(command, context);
}
