import type { Command } from 'commander';
import { nearest } from '../text/suggest.js';

const unadded = new WeakMap<Command, () => void>();

/** Adds the commands of a group when they are first needed: most starts need two groups. */
export function setCommands(group: Command, add: () => void): void {
  unadded.set(group, add);
}

export function commandsOf(group: Command): readonly Command[] {
  const add = unadded.get(group);
  unadded.delete(group);
  add?.();
  return group.commands;
}

/** Full names of the commands below a group that resemble a word: `urtuu sms send` for `sned`. */
export function similarCommands(group: Command, word: string): string[] {
  const below = commandsBelow(group);
  const names = nearest(word, [...below.values()]);
  return [...below].flatMap(([path, name]) => (names.includes(name) ? [path] : []));
}

/** Names by their paths. */
function commandsBelow(group: Command): Map<string, string> {
  const found = new Map<string, string>();
  for (const command of visibleCommands(group)) {
    found.set(nameOf(command), command.name());
    for (const [path, name] of commandsBelow(command)) found.set(path, name);
  }
  return found;
}

/** Without commands that only scripts call. */
export const visibleCommands = (group: Command): Command[] =>
  commandsOf(group).filter((command) => !command.name().startsWith('_'));

/** `urtuu sms send` */
export function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}
