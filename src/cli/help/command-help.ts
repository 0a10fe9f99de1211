import type { Command, Help } from 'commander';
import type { Exit } from '../exit.js';
import { type ExitCode, exitMeanings, exits as exitTable } from '../exit-codes.js';
import type { View } from '../output/view.js';

/**
 * What a command may do, with some of its options: `sends` messages; `spends` credits, or an attempt of a verification;
 * `changes` data, settings or keys. A command that `reads` does none of these.
 */
export type Effects = readonly ('sends' | 'spends' | 'changes' | 'reads')[];

export interface CommandHelp<Row = never> {
  effects: Effects;
  /** Two real command lines, each with its purpose. */
  examples: readonly (readonly [line: string, purpose: string])[];
  /** Meaning of 0, if it is neither "done" nor "all accepted". */
  ok?: string;
  /** It runs until a signal ends it, and never exits with 0. */
  endless?: true;
  /** Meaning of 11, if it is not about a job. */
  refused?: string;
  /** Exit codes other than 0, 1, 2 and 13, which every command has. */
  exits: readonly ExitCode[];
  /** Output of `--json`, as an example on one line; several examples have labels. */
  json?: string | readonly (readonly [label: string, example: string])[];
  /** Lines before the examples. */
  notes?: readonly string[];
  /** Other exit codes, for callers that expect those. */
  exitAs?: ExitTranslation;
  /** The view that `--columns` chooses from, checked before the action. */
  view?: ViewChoice<Row>;
  /** The columns are only known to the action, which checks `--columns` itself. */
  findsColumns?: boolean;
}

/** An invalid command line of such a command must not exit with 0. */
export const sendsOrSpends = ({ effects }: CommandHelp): boolean =>
  effects.includes('sends') || effects.includes('spends');

/** A view, or the one for the command's options. */
export type ViewChoice<Row> = View<Row> | ((options: Record<string, unknown>) => View<Row>);

/** `key`: the idempotency key of a request in doubt. */
export interface ExitTranslation {
  of(exit: ExitCode, key: unknown): Exit;
  /** The hint, if the usual one does not apply. */
  hint(exit: ExitCode, key: unknown): string | undefined;
  meanings: Readonly<Record<number, string>>;
}

const helps = new WeakMap<Command, CommandHelp>();
export const commandHelpOf = (command: Command): CommandHelp | undefined => helps.get(command);

/** The view for a command's results with its options. */
export function viewOf(command: Command): View<never> | undefined {
  const view = helps.get(command)?.view;
  return typeof view === 'function' ? view(command.opts()) : view;
}

/** Adds examples, the fields of the JSON and special exit codes to a command's help. */
export function addHelp<Row>(command: Command, help: CommandHelp<Row>): Command {
  helps.set(command, help as unknown as CommandHelp);
  return command.addHelpText('after', () => {
    const helper = helperOf(command);
    const { examples, notes = [] } = help;
    const lines = [
      '',
      ...notes,
      ...(notes.length > 0 ? [''] : []),
      'Examples:',
      ...examples.flatMap(([line, purpose]) => [`  # ${purpose}`, `  ${line}`]),
      '',
      ...jsonFields(help).flatMap((text) => indented(helper, text)),
      ...exitCodes(help, helper),
      globalOptionNote,
    ];
    return lines.join('\n');
  });
}

/** The last line of every help. */
export const globalOptionNote = 'Global options: urtuu help options';

/** Commander's helper, with the width of the command's help. */
function helperOf(command: Command): Help {
  const helper = command.createHelp();
  const helpWidth = command.configureOutput().getOutHelpWidth?.();
  helper.prepareContext(helpWidth === undefined ? {} : { helpWidth });
  return helper;
}

/** The examples of a command's JSON with their labels: empty, or like `with --dry-run`. */
export function jsonExamples({
  json = [],
}: Pick<CommandHelp, 'json'>): readonly (readonly [string, string])[] {
  return typeof json === 'string' ? [['', json]] : json;
}

/** One line for each kind of rows: `of one id` and `of several` have the same fields. */
function jsonFields(help: CommandHelp): string[] {
  const lines = new Map<string, string>();
  for (const [label, example] of jsonExamples(help)) {
    const value = JSON.parse(example);
    const fields = Object.keys(Array.isArray(value) ? value[0] : value).join(', ');
    if (!lines.has(fields))
      lines.set(fields, `JSON fields${/^with/.test(label) ? ` ${label}` : ''}: ${fields}`);
  }
  return [...lines.values()];
}

/** Indents all lines but the first by two. */
const indented = (helper: Help, text: string) =>
  helper
    .boxWrap(text, (helper.helpWidth ?? 80) - 2)
    .split('\n')
    .map((line, index) => `${index === 0 ? '' : '  '}${line}`);

/** The exit codes with a special meaning here; all of them if another table is used. */
function exitCodes(help: CommandHelp, helper: Help): string[] {
  const { exitAs, exits, ok, refused, endless } = help;
  const special = {
    ...(ok === undefined ? {} : { 0: ok }),
    ...(exits.includes(exitTable.wrongCode) ? { 10: exitMeanings[exitTable.wrongCode] } : {}),
    ...(refused === undefined ? {} : { 11: refused }),
    ...(endless ? signals : {}),
  };
  const width = endless ? 3 : 2;
  return [
    exitAs === undefined ? 'Exit codes: urtuu help exit-codes' : 'Exit codes (sysexits.h):',
    ...Object.entries(exitAs?.meanings ?? special).map(([code, meaning]) =>
      helper.formatItem(code.padStart(width), width, meaning, helper),
    ),
  ];
}

/** As shown by a shell. */
const signals = { 130: 'ended by Ctrl-C', 143: 'ended by SIGTERM' };

/** The meaning of each exit code of a command. */
export function exitMeaningsOf({
  exits,
  ok,
  refused,
  endless,
  exitAs,
}: CommandHelp): Readonly<Record<number, string>> {
  if (exitAs !== undefined) return exitAs.meanings;
  const codes: ExitCode[] = [...(endless ? [] : [exitTable.ok]), 1, 2, ...exits, 13];
  const doubtful = exits.includes(exitTable.doubt);
  const meanings = Object.fromEntries(codes.map((code) => [code, exitMeanings[code]]));
  return {
    ...meanings,
    ...((ok === undefined && doubtful) || endless ? {} : { 0: ok ?? 'done' }),
    ...(refused === undefined ? {} : { 11: refused }),
    ...(endless ? signals : {}),
  };
}
