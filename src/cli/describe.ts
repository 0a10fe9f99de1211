import type { Command } from 'commander';
import { type ExitCode, exitMeanings } from './exit-codes.js';
import { globalOptionNames } from './options.js';
import type { View } from './output/view.js';

export interface Description<Row = never> {
  /** Two real command lines, each with what it is for. */
  examples: readonly (readonly [line: string, purpose: string])[];
  /** Exit codes besides 0, 1, 2 and 13, which every command can end with. */
  exits: readonly ExitCode[];
  /** What `--json` prints, as an example on one line. */
  json?: string;
  /** The view that `--columns` chooses from; it is checked before the action runs. */
  view?: ViewChoice<Row>;
}

/** A view, or the one that the command's options ask for. */
export type ViewChoice<Row> = View<Row> | ((options: Record<string, unknown>) => View<Row>);

const views = new WeakMap<Command, ViewChoice<never>>();

/** What a command is about to print. */
export function viewOf(command: Command): View<never> | undefined {
  const choice = views.get(command);
  return typeof choice === 'function' ? choice(command.opts()) : choice;
}

/** Adds to a command's help what its options do not say. */
export function describe<Row>(command: Command, description: Description<Row>): Command {
  const { examples, exits, json, view } = description;
  if (view !== undefined) views.set(command, view as unknown as ViewChoice<never>);
  const lines = [
    '',
    'Examples:',
    ...examples.flatMap(([line, purpose]) => [`  # ${purpose}`, `  ${line}`]),
    ...(json === undefined ? [] : ['', 'JSON:', `  ${json}`]),
    '',
    'Exit codes (urtuu help exit-codes):',
    ...([0, 1, 2, ...exits, 13] as ExitCode[])
      .sort((a, b) => a - b)
      .map((code) => `  ${String(code).padStart(2)}  ${exitMeanings[code]}`),
    '',
    'Global options (urtuu --help):',
    ...globalOptionNames.map((line) => `  ${line}`),
  ];
  return command.addHelpText('after', lines.join('\n'));
}
