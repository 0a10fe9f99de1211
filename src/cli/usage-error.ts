import type { Command, CommanderError } from 'commander';
import { type CliError, usageError } from './errors.js';

/** An error of commander in the words of our own. */
export function usageErrorOf(error: CommanderError, command: Command): CliError {
  const name = nameOf(command);
  if (error.code === 'commander.help') {
    const names = command.commands.map((each) => each.name()).join(', ');
    return usageError(command.parent === null ? 'which command?' : `which command? ${name} has: ${names}`);
  }
  const [message = '', suggestion] = error.message.replace(/^error: /, '').split('\n');
  const text = rewordings.reduce((all, [from, to]) => all.replace(from, to), message);
  return usageError(
    text.replace('COMMAND', name),
    suggestion === undefined ? undefined : `${suggestion.slice(1, -1)} See: ${name} --help`,
  );
}

const rewordings: readonly (readonly [from: RegExp, to: string])[] = [
  [/^option '(?:-\w, )?(--?[\w-]+).*' argument '.*' is invalid\. /s, '$1: '],
  [/^command-argument value '.*' is invalid for argument '(\w+)'\. /s, '<$1>: '],
  [/^option '(?:-\w, )?(--?[\w-]+) (.*)' argument missing$/, '$1 needs a value: $2'],
  [/^missing required argument '(\w+)'$/, 'missing: <$1>'],
  // The value of an unknown option may be a secret.
  [/^(unknown option '[^=]*)=.*'$/s, "$1'"],
  [/^too many arguments.* Expected 0 .*$/s, 'COMMAND takes no arguments'],
  [
    /^too many arguments.* Expected (\d+) arguments? but got (\d+)\.$/s,
    'COMMAND takes at most $1, and there are $2 arguments; quote a text that has spaces',
  ],
];

/** `urtuu sms send` */
export function nameOf(command: Command): string {
  const path: string[] = [];
  for (let each: Command | null = command; each !== null; each = each.parent) path.unshift(each.name());
  return path.join(' ');
}
