import type { Command } from 'commander';
import { type Exit, type ExitCode, exitMeanings } from './exit-codes.js';
import { globalOptionNames } from './options.js';
import type { View } from './output/view.js';

export interface Description<Row = never> {
  /** Two real command lines, each with what it is for. */
  examples: readonly (readonly [line: string, purpose: string])[];
  /** Exit codes besides 0, 1, 2 and 13, which every command can end with. */
  exits: readonly ExitCode[];
  /** What `--json` prints, as an example on one line. */
  json?: string;
  /** Another code in place of the program's own, for callers who expect those. */
  exitAs?: ExitTranslation;
  /** The view that `--columns` chooses from; it is checked before the action runs. */
  view?: ViewChoice<Row>;
}

/** A view, or the one that the command's options ask for. */
export type ViewChoice<Row> = View<Row> | ((options: Record<string, unknown>) => View<Row>);

/** Another exit code for one of ours; `key` is the idempotency key of a request that is in doubt. */
export interface ExitTranslation {
  of(exit: ExitCode, key: unknown): Exit;
  meanings: Readonly<Record<number, string>>;
}

const translations = new WeakMap<Command, ExitTranslation>();
export const exitTranslationOf = (command: Command): ExitTranslation | undefined => translations.get(command);

const views = new WeakMap<Command, ViewChoice<never>>();

/** What a command is about to print. */
export function viewOf(command: Command): View<never> | undefined {
  const choice = views.get(command);
  return typeof choice === 'function' ? choice(command.opts()) : choice;
}

/** Adds to a command's help what its options do not say. */
export function describe<Row>(command: Command, description: Description<Row>): Command {
  const { examples, exits, json, view, exitAs } = description;
  if (view !== undefined) views.set(command, view as unknown as ViewChoice<never>);
  if (exitAs !== undefined) translations.set(command, exitAs);
  const lines = [
    '',
    'Examples:',
    ...examples.flatMap(([line, purpose]) => [`  # ${purpose}`, `  ${line}`]),
    ...(json === undefined ? [] : ['', 'JSON:', `  ${json}`]),
    '',
    ...(exitAs === undefined ? exitLines(exits) : ['Exit codes (sysexits.h):', ...linesOf(exitAs.meanings)]),
    '',
    'Global options (urtuu --help):',
    ...globalOptionNames.map((line) => `  ${line}`),
  ];
  return command.addHelpText('after', lines.join('\n'));
}

const linesOf = (meanings: Readonly<Record<number, string>>) =>
  Object.entries(meanings).map(([code, meaning]) => `  ${code.padStart(2)}  ${meaning}`);

function exitLines(exits: readonly ExitCode[]): string[] {
  const codes: ExitCode[] = [0, 1, 2, ...exits, 13];
  const meanings = Object.fromEntries(codes.map((code) => [code, exitMeanings[code]]));
  return ['Exit codes (urtuu help exit-codes):', ...linesOf(meanings)];
}
