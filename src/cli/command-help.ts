import type { Command, Help } from 'commander';
import type { Exit } from './exit.js';
import { type ExitCode, exits as exitCodes, exitMeanings } from './exit-codes.js';
import { globalOptionNames } from './options.js';
import type { View } from './output/view.js';

export interface CommandHelp<Row = never> {
  /** Two real command lines, each with its purpose. */
  examples: readonly (readonly [line: string, purpose: string])[];
  /** Meaning of 0, where it is neither "done" nor "all accepted". */
  ok?: string;
  /** Meaning of 11, where it is not about a job. */
  refused?: string;
  /** Exit codes besides 0, 1, 2 and 13, which every command has. */
  exits: readonly ExitCode[];
  /** Output of `--json`, as an example on one line; several with a label each. */
  json?: string | readonly (readonly [label: string, example: string])[];
  /** Lines before the examples. */
  notes?: readonly string[];
  /** Other exit codes, for callers who expect those. */
  exitAs?: ExitTranslation;
  /** The view that `--columns` chooses from, checked before the action. */
  view?: ViewChoice<Row>;
  /** It sends, or counts a try: a command line that does not must not exit with 0. */
  sends?: true;
  /** The columns are known only to the action, which checks `--columns` itself. */
  findsColumns?: boolean;
}

/** A view, or the one for the command's options. */
export type ViewChoice<Row> = View<Row> | ((options: Record<string, unknown>) => View<Row>);

/** `key` is the idempotency key of a request that is in doubt. */
export interface ExitTranslation {
  of(exit: ExitCode, key: unknown): Exit;
  /** The hint where ours would not do. */
  hint(exit: ExitCode, key: unknown): string | undefined;
  meanings: Readonly<Record<number, string>>;
}

const helps = new WeakMap<Command, CommandHelp>();
export const commandHelpOf = (command: Command): CommandHelp | undefined => helps.get(command);

/** The view of the results of a command with its options. */
export function viewOf(command: Command): View<never> | undefined {
  const view = helps.get(command)?.view;
  return typeof view === 'function' ? view(command.opts()) : view;
}

/** Adds examples, JSON, exit codes and the names of the global options to a command's help. */
export function addHelp<Row>(command: Command, help: CommandHelp<Row>): Command {
  const { examples, exits, ok, refused, json, exitAs, notes } = help;
  helps.set(command, help as unknown as CommandHelp);
  return command.addHelpText('after', () => {
    const helper = helperOf(command);
    const variants = typeof json === 'string' ? [['', json] as const] : (json ?? []);
    const lines = [
      ...(notes === undefined ? [] : ['', ...notes]),
      '',
      'Examples:',
      ...examples.flatMap(([line, purpose]) => [`  # ${purpose}`, `  ${line}`]),
      ...variants.flatMap(([label, example]) => [
        '',
        `JSON${label && ` ${label}`}:`,
        ...jsonLines(helper, example),
      ]),
      '',
      exitAs === undefined ? 'Exit codes (urtuu help exit-codes):' : 'Exit codes (sysexits.h):',
      ...linesOf(exitAs?.meanings ?? meaningsOf(exits, ok, refused), helper),
      '',
      ...globalOptionNote(helper),
    ];
    return lines.join('\n');
  });
}

/** The end of every help. */
export function globalOptionNote(helper: Help): string[] {
  return ['Global options (urtuu --help):', ...indented(helper, globalOptionNames)];
}

/** Commander's helper with the width of the command's help. */
export function helperOf(command: Command): Help {
  const helper = command.createHelp();
  const helpWidth = command.configureOutput().getOutHelpWidth?.();
  helper.prepareContext(helpWidth === undefined ? {} : { helpWidth });
  return helper;
}

/** Lines indented by two, all but the first also by `further`. */
const indented = (helper: Help, text: string, further = '') =>
  helper
    .boxWrap(text, (helper.helpWidth ?? 80) - 2 - further.length)
    .split('\n')
    .map((line, index) => `  ${index === 0 ? '' : further}${line}`);

/** Wrapped between fields only. */
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
