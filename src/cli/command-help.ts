import type { Command, Help } from 'commander';
import type { Exit } from './exit.js';
import { type ExitCode, exits as exitCodes, exitMeanings } from './exit-codes.js';
import { globalOptionNames } from './options.js';
import type { View } from './output/view.js';

export interface Description<Row = never> {
  /** Two real command lines, each with what it is for. */
  examples: readonly (readonly [line: string, purpose: string])[];
  /** What 0 means, where it is not that something was done, or everything accepted. */
  ok?: string;
  /** What 11 means, where it is not about a job. */
  refused?: string;
  /** Exit codes besides 0, 1, 2 and 13, which every command can end with. */
  exits: readonly ExitCode[];
  /** What `--json` prints, as an example on one line; several with what each is of. */
  json?: string | readonly (readonly [of: string, example: string])[];
  /** Lines before the examples, for what no option says. */
  notes?: readonly string[];
  /** Another code in place of the program's own, for callers who expect those. */
  exitAs?: ExitTranslation;
  /** The view that `--columns` chooses from; it is checked before the action runs. */
  view?: ViewChoice<Row>;
  /** It sends, or counts a try: a command line that does not do that must not end with 0. */
  sends?: true;
  /** The action finds out what columns there are, and checks `--columns` itself. */
  findsColumns?: boolean;
}

/** A view, or the one that the command's options ask for. */
export type ViewChoice<Row> = View<Row> | ((options: Record<string, unknown>) => View<Row>);

/** Another exit code for one of ours; `key` is the idempotency key of a request that is in doubt. */
export interface ExitTranslation {
  of(exit: ExitCode, key: unknown): Exit;
  /** What to do about it, where ours would not do. */
  hint(exit: ExitCode, key: unknown): string | undefined;
  meanings: Readonly<Record<number, string>>;
}

const translations = new WeakMap<Command, ExitTranslation>();
export const exitTranslationOf = (command: Command): ExitTranslation | undefined => translations.get(command);

const views = new WeakMap<Command, ViewChoice<never>>();
const finders = new WeakSet<Command>();
/** Whether the columns of a command are known only to its action. */
export const findsColumns = (command: Command): boolean => finders.has(command);

const senders = new WeakSet<Command>();
export const sends = (command: Command): boolean => senders.has(command);

/** What a command is about to print. */
export function viewOf(command: Command): View<never> | undefined {
  const choice = views.get(command);
  return typeof choice === 'function' ? choice(command.opts()) : choice;
}

/** Adds to a command's help what its options do not say. */
export function describe<Row>(command: Command, description: Description<Row>): Command {
  const { examples, exits, ok, refused, json, view, exitAs, notes } = description;
  if (description.findsColumns) finders.add(command);
  if (description.sends) senders.add(command);
  if (view !== undefined) views.set(command, view as unknown as ViewChoice<never>);
  if (exitAs !== undefined) translations.set(command, exitAs);
  return command.addHelpText('after', () => {
    const helper = helperOf(command);
    const variants = typeof json === 'string' ? [['', json] as const] : (json ?? []);
    const lines = [
      ...(notes === undefined ? [] : ['', ...notes]),
      '',
      'Examples:',
      ...examples.flatMap(([line, purpose]) => [`  # ${purpose}`, `  ${line}`]),
      ...variants.flatMap(([of, example]) => ['', `JSON${of && ` ${of}`}:`, ...jsonLines(helper, example)]),
      '',
      exitAs === undefined ? 'Exit codes (urtuu help exit-codes):' : 'Exit codes (sysexits.h):',
      ...linesOf(exitAs?.meanings ?? meaningsOf(exits, ok, refused), helper),
      '',
      ...globalOptionNote(helper),
    ];
    return lines.join('\n');
  });
}

/** What is at the end of every help. */
export function globalOptionNote(helper: Help): string[] {
  return ['Global options (urtuu --help):', ...indented(helper, globalOptionNames)];
}

/** Commander's helper for a command, as wide as its help is. */
export function helperOf(command: Command): Help {
  const helper = command.createHelp();
  const helpWidth = command.configureOutput().getOutHelpWidth?.();
  helper.prepareContext(helpWidth === undefined ? {} : { helpWidth });
  return helper;
}

/** As lines that begin two columns from the left, all but the first one `further`. */
const indented = (helper: Help, text: string, further = '') =>
  helper
    .boxWrap(text, (helper.helpWidth ?? 80) - 2 - further.length)
    .split('\n')
    .map((line, index) => `  ${index === 0 ? '' : further}${line}`);

/** Broken between fields only: a value stays with its name. */
const jsonLines = (helper: Help, example: string) =>
  indented(helper, example.replaceAll('": ', '":\0'), ' ').map((line) => line.replaceAll('\0', ' '));

const linesOf = (meanings: Readonly<Record<number, string>>, helper: Help) =>
  Object.entries(meanings).map(([code, meaning]) => helper.formatItem(code.padStart(2), 2, meaning, helper));

function meaningsOf(
  exits: readonly ExitCode[],
  ok: string | undefined,
  refused: string | undefined,
): Record<number, string> {
  const codes: ExitCode[] = [0, 1, 2, ...exits, 13];
  const doubtful = exits.includes(exitCodes.doubt);
  const meanings = Object.fromEntries(codes.map((code) => [code, exitMeanings[code]]));
  return {
    ...meanings,
    ...(ok === undefined && doubtful ? {} : { 0: ok ?? 'done' }),
    ...(refused === undefined ? {} : { 11: refused }),
  };
}
