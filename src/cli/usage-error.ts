import type { Command, CommanderError } from 'commander';
import { type CliError, usageError } from './errors.js';
import { nameOf, similarCommands, visibleCommands } from './help/command-tree.js';
import { globalOptionTable } from './options.js';
import { didYouMean, suggestionOf } from './text/suggest.js';

/** An error of commander, in our own words. */
export function usageErrorOf(error: CommanderError, command: Command): CliError {
  const name = nameOf(command);
  const names = visibleCommands(command).map((each) => each.name());
  const has = command.parent === null || names.length === 0 ? '' : `${name} has: ${names.join(', ')}`;
  if (error.code === 'commander.help') return usageError(`which command? ${has}`.trimEnd());
  const text = rewordings
    .reduce((all, [from, to]) => all.replace(from, to), error.message.replace(/^error: /, ''))
    .replace('COMMAND', name);
  const [, unknown = ''] = /^unknown option '(.*)'$/s.exec(text) ?? [];
  const missing = /^(?:send|bulk)$/.test(command.name()) ? notOffered[unknown] : undefined;
  if (missing !== undefined) return usageError(`${unknown}: ${missing[0]}`, missing[1]);
  const suggestion = suggestionFor(text, command) || (has && `${has}. `);
  const [, option = ''] = /(--[\w-]+)/.exec(`${suggestion}${text}`) ?? [];
  const help = isGlobalOption(option) ? 'urtuu help options' : `${name} --help`;
  return usageError(text, `${suggestion}See: \`${help}\``);
}

function suggestionFor(text: string, command: Command): string {
  const [, name = ''] = /^unknown command '(.*)'$/s.exec(text) ?? [];
  if (name !== '') return suggestionOf(similarCommands(command, name));
  const [, option = ''] = /^unknown option '(.*)'$/s.exec(text) ?? [];
  if (option !== '') return textHint(option, command) || didYouMean(option, optionsOf(command));
  if (text.includes('takes at most') && command.name() === 'send')
    return `For several recipients, send a list (\`${nameOf(command).replace(/send$/, 'bulk')} --help\`). `;
  const [, value, choices = ''] = /'(.*)' is not one of (.*)$/s.exec(text) ?? [];
  return value === undefined ? '' : didYouMean(value, choices.split(', '));
}

/** For a text such as "-50% today", which was read as an option; empty for others. */
function textHint(written: string, command: Command): string {
  if (/^--?[\w-]+$/.test(written)) return '';
  if (command.registeredArguments.length > 1)
    return "Write -- before a text that begins with a dash: -- '-50% today'. ";
  const hasText = command.options.some(({ long }) => long === '--text');
  return hasText ? "Write = before a text that begins with a dash: --text='-50% today'. " : '';
}

/** The options of a command and of the groups above it, which it also accepts. */
function optionsOf(command: Command | null): string[] {
  if (command === null) return ['--help'];
  return [...command.options.flatMap(({ long }) => long ?? []), ...optionsOf(command.parent)];
}

const noAttachments = ['the service offers no attachments', 'Send a link to the file.'] as const;
const notLater = ['the service sends at once', 'Run the command at that time, as with cron or at.'] as const;
const notOffered: Readonly<Record<string, readonly [message: string, hint: string]>> = {
  '--attach': noAttachments,
  '--attachment': noAttachments,
  '--at': notLater,
  '--schedule': notLater,
};

const isGlobalOption = (name: string) =>
  globalOptionTable.some(([flags]) => flags.split(/[ ,]+/).includes(name));

const rewordings: readonly (readonly [from: RegExp, to: string])[] = [
  [/^option '(?:-\w, )?(--?[\w-]+).*' argument '.*' is invalid\. /s, '$1: '],
  [/^command-argument value '.*' is invalid for argument '(\w+)'\. /s, '<$1>: '],
  [/^option '(?:-\w, )?(--?[\w-]+) (.*)' argument missing$/, '$1 needs a value: $2'],
  [/^missing required argument '(\w+)'$/, 'missing: <$1>'],
  [/^required option '(--[\w-]+) .*' not specified$/, 'missing: $1'],
  // The value of an unknown option may be a secret.
  [/^(unknown option '[^=]*)=.*'$/s, "$1'"],
  [/^too many arguments.* Expected 0 .*$/s, 'COMMAND takes no arguments'],
  [
    /^too many arguments.* Expected (\d+ arguments?) but got (\d+)\.$/s,
    'COMMAND takes at most $1 and got $2; quote a text that has spaces',
  ],
];
