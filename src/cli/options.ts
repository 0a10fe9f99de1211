import { type Command, InvalidArgumentError } from 'commander';
import { readDuration } from './input/duration.js';
import { formats, type OutputOptions } from './output/formats.js';

/** The options of every command, before or after its name. */
export interface GlobalOptions extends OutputOptions {
  profile?: string;
  apiKeyFile?: string;
  sandbox?: boolean;
  baseUrl?: string;
  /** Milliseconds for one attempt. */
  timeout?: number;
  maxRetries?: number;
  quiet?: boolean;
  verbose?: boolean;
  yes?: boolean;
}

type Declaration = [flags: string, description: string, read?: (value: string) => unknown];

const declarations: readonly Declaration[] = [
  ['--profile <name>', 'use this profile (URTUU_PROFILE)', readName],
  ['--api-key-file <file>', 'read the API key from a file, or from standard input with -'],
  ['--sandbox', 'use the embedded service, with durable data of its own (URTUU_SANDBOX=1)'],
  ['--base-url <url>', 'address of the service; ends in /v1 (URTUU_BASE_URL)'],
  ['--timeout <duration>', 'limit of one attempt: 500ms, 30s, 10m (default 30s)', readTimeout],
  ['--max-retries <n>', 'retries of a failed request (default 2)', readCount],
  ['-o, --output <format>', `${formats.join(', ')} (default table)`, readChoice(...formats)],
  ['--json', 'the same as --output json'],
  ['--columns [names]', 'print only these columns, comma-separated; without names, list them'],
  ['--value <path>', 'print only the value of this field, such as id or error.code'],
  ['--no-header', 'omit the header of table, csv and tsv'],
  ['-q, --quiet', 'hide progress and notes'],
  ['-v, --verbose', 'show each HTTP exchange on standard error, key and texts redacted'],
  ['--no-color', 'disable colours (NO_COLOR)'],
  ['--mask', 'show recipients as 9911**33'],
  ['--yes', 'answer yes to prompts'],
];

/** Hidden in the help of commands: `urtuu help options` lists them. */
export function addGlobalOptions(command: Command): void {
  for (const [flags, description, read] of declarations) {
    const option = command.createOption(flags, description).hideHelp();
    if (read !== undefined) option.argParser(read);
    command.addOption(option);
  }
}

/** Names and descriptions, for `urtuu help options`. */
export const globalOptionTable: readonly (readonly [flags: string, description: string])[] = declarations.map(
  ([flags, description]) => [flags, description],
);

/** The global options on a command line, before or after the command's name; the latter win. */
export function globalOptions(command: Command): GlobalOptions {
  const line: Command[] = [];
  for (let each: Command | null = command; each !== null; each = each.parent) line.unshift(each);
  const given: Record<string, unknown> = {};
  for (const each of line) {
    for (const [name, value] of Object.entries(each.opts())) {
      if (each.getOptionValueSource(name) !== 'default') given[name] = value;
    }
  }
  return given as GlobalOptions;
}

/**
 * Empty values are refused: an unset variable in a script must not select the profile in use, or the current folder.
 */
export function readName(written: string): string {
  if (written.trim() === '') throw new InvalidArgumentError('the value is empty');
  return written;
}

function readTimeout(written: string): number {
  const timeout = readDuration(written);
  if (timeout === 0) throw new InvalidArgumentError('must be over 0');
  return timeout;
}

/** A whole number, 0 or more. */
export function readCount(written: string): number {
  if (!/^\d{1,9}$/.test(written))
    throw new InvalidArgumentError(`'${written}' is not a whole number, 0 or more`);
  return Number(written);
}

/** Reads one of several words, and keeps them for completion. */
export function readChoice<Word extends string>(...words: readonly Word[]): ChoiceReader<Word> {
  const read = (written: string): Word => {
    const word = words.find((each) => each === written);
    if (word === undefined) throw new InvalidArgumentError(`'${written}' is not one of ${words.join(', ')}`);
    return word;
  };
  return Object.assign(read, { words });
}

interface ChoiceReader<Word extends string> {
  (written: string): Word;
  readonly words: readonly Word[];
}

/** The words that `readChoice` accepts for a value; none for other values. */
export function choicesOf({ parseArg }: { parseArg?: unknown }): readonly string[] {
  return (parseArg as Partial<ChoiceReader<string>> | undefined)?.words ?? [];
}
