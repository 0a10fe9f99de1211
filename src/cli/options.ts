import { type Command, type Help, InvalidArgumentError } from 'commander';
import { readDuration } from './input/duration.js';

export const formats = ['table', 'json', 'ndjson', 'csv', 'tsv'] as const;
export type Format = (typeof formats)[number];

/** The options every command takes, before or after its name. */
export interface GlobalOptions {
  profile?: string;
  apiKeyFile?: string;
  sandbox?: boolean;
  baseUrl?: string;
  /** Milliseconds one attempt may take. */
  timeout?: number;
  maxRetries?: number;
  output?: Format;
  json?: boolean;
  /** `true` when given without names: list them. */
  columns?: string | true;
  header?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  color?: boolean;
  mask?: boolean;
  yes?: boolean;
}

type Declaration = [flags: string, description: string, read?: (value: string) => unknown];

const declarations: readonly Declaration[] = [
  ['--profile <name>', 'use this profile (URTUU_PROFILE)', readName],
  ['--api-key-file <file>', 'read the API key from a file, or from standard input with -'],
  ['--sandbox', 'use the embedded service, with durable data of its own (URTUU_SANDBOX=1)'],
  ['--base-url <url>', 'where the service is; ends in /v1 (URTUU_BASE_URL)'],
  ['--timeout <duration>', 'what one attempt may take: 500ms, 30s, 10m (default 30s)', readTimeout],
  ['--max-retries <n>', 'how often a failed request is sent again (default 2)', readCount],
  ['-o, --output <format>', `${formats.join(', ')} (default table)`, readChoice(...formats)],
  ['--json', 'the same as --output json'],
  ['--columns [names]', 'only these columns, comma-separated; without names: list them'],
  ['--no-header', 'leave out the header of table, csv and tsv'],
  ['-q, --quiet', 'no progress and no notes'],
  ['-v, --verbose', 'show each HTTP exchange on standard error, key and texts redacted'],
  ['--no-color', 'no colours (NO_COLOR)'],
  ['--mask', 'show recipients as 9911**33'],
  ['--yes', 'answer yes to questions'],
];

/** Adds the global options; `urtuu --help` tells of them below the commands, the help of a command names them. */
export function addGlobalOptions(command: Command): void {
  for (const [flags, description, read] of declarations) {
    const option = command.createOption(flags, description).hideHelp();
    if (read !== undefined) option.argParser(read);
    command.addOption(option);
  }
}

/** What `urtuu --help` says of them. */
export function globalOptionLines(helper: Help): string[] {
  const widest = Math.max(...declarations.map(([flags]) => flags.length));
  return [
    'Global options:',
    ...declarations.map(([flags, description]) => helper.formatItem(flags, widest, description, helper)),
  ];
}

/** Their names, one after the other. */
export const globalOptionNames: string = declarations.map(nameOf).join(', ');

function nameOf([flags]: Declaration): string {
  return flags.replace(/ [<[].*/, '').replace(/^-\w, /, '');
}

/** The global options of a command line, wherever they stood; the nearer to the command wins. */
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

/** A variable of a script that is not set must not stand for the profile in use. */
function readName(written: string): string {
  if (written === '') throw new InvalidArgumentError('the name is empty');
  return written;
}

function readTimeout(written: string): number {
  const timeout = readDuration(written);
  if (timeout === 0) throw new InvalidArgumentError('it must be over 0');
  return timeout;
}

/** A whole number, 0 or more. */
export function readCount(written: string): number {
  if (!/^\d{1,9}$/.test(written)) throw new InvalidArgumentError(`'${written}' is not a whole number`);
  return Number(written);
}

/** One of some words. */
export function readChoice<Word extends string>(...words: readonly Word[]): (written: string) => Word {
  return (written) => {
    const word = words.find((each) => each === written);
    if (word === undefined) throw new InvalidArgumentError(`'${written}' is none of ${words.join(', ')}`);
    return word;
  };
}
