import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Argument, Command, Option } from 'commander';
import { normalId } from '../../contract/index.js';
import type { Config } from '../config/config.js';
import { viewOf } from '../help/command-help.js';
import { commandsOf, visibleCommands } from '../help/command-tree.js';
import { recentIds } from '../history/recent-ids.js';
import { choicesOf } from '../options.js';
import { topics } from '../topics/index.js';

interface Tree {
  readonly program: Command;
  readonly config: Pick<Config, 'read' | 'stateDirectory'>;
  /** Adds a command's options and arguments. */
  load(command: Command): Promise<void>;
}

/** A word to insert, with an explanation that a shell may show beside it. */
export interface Candidate {
  word: string;
  description: string;
}

type Found = readonly (string | Candidate)[];
type Source = (tree: Tree) => Promise<Found> | Found;

const profiles: Source = async ({ config }) =>
  Object.entries((await config.read()).profiles).map(([word, profile]) => ({
    word,
    description: profile.base_url ?? '',
  }));
const jobs: Source = async ({ config }) => {
  try {
    const names = await readdir(join(config.stateDirectory, 'jobs'));
    // Any other name there is not a job.
    return names.filter((name) => /^[A-Za-z0-9][\w.-]*$/.test(name));
  } catch {
    return [];
  }
};
const since: Source = () => ['1h', '1d', '7d', '30d'];
const ids: Source = ({ config }) => recentIds(config);

const argumentSources: Readonly<Record<string, Source>> = {
  'messages get': ids,
  'batches get': ids,
  'verify get': ids,
  'verify check': ids,
  'profiles use': profiles,
  'profiles show': profiles,
  'jobs show': jobs,
  'jobs watch': jobs,
  'jobs cancel': jobs,
  'jobs resume': jobs,
  'jobs retry': jobs,
  'jobs report': jobs,
  'jobs remove': jobs,
  api: () => ['GET', 'POST'],
  help: ({ program }) => [
    ...Object.entries(topics).map(([word, { summary }]) => ({ word, description: summary })),
    ...commandsIn(program),
  ],
};
const optionSources: Readonly<Record<string, Source>> = {
  '--profile': profiles,
  '--job': jobs,
  '--like': jobs,
  '--batch': ids,
  '--since': since,
  '--until': since,
};

/** A name that needs no quoting in any shell. */
const plain = /^[\w.@:+,-]+$/;

/** Completions of the last word; none where a file is expected, which the shell completes. */
export async function candidates(tree: Tree, words: readonly string[]): Promise<Candidate[]> {
  // bash passes --output=json as three words.
  const before = words.slice(0, -1).filter((word) => word !== '=');
  const current = (words.at(-1) ?? '').replace(/^=$/, '');
  const [, option, value = ''] = /^(--[\w-]+)=(.*)$/s.exec(current) ?? [];
  if (option === undefined) return beginning(await possible(tree, before, current), current);
  const found = await possible(tree, [...before, option], value);
  const whole = found.map((each) => ({ ...each, word: `${option}=${each.word}` }));
  return beginning(whole, current);
}

const beginning = (found: readonly Candidate[], current: string) =>
  found.filter(
    ({ word }) =>
      (word.startsWith(current) || (normalId(word) !== null && word.startsWith(current.toLowerCase()))) &&
      plain.test(word.replace(/^--[\w-]+=/, '')),
  );

interface Position {
  command: Command;
  path: string[];
  /** The number of arguments before this one. */
  given: number;
  /** The option that the next word is the value of. */
  pending: Option | undefined;
}

/** Follows the words down the tree of commands. */
async function find({ program, load }: Tree, words: readonly string[]): Promise<Position> {
  let command = program;
  let pending: Option | undefined;
  let given = 0;
  const path: string[] = [];
  for (const word of words) {
    if (pending !== undefined) {
      pending = undefined;
      continue;
    }
    if (word.startsWith('-')) {
      const option = command.options.find((each) => each.long === word || each.short === word);
      pending = option?.required || option?.optional ? option : undefined;
      continue;
    }
    const next = visibleCommands(command).find((each) => each.name() === word);
    if (next === undefined) {
      given += 1;
      continue;
    }
    command = next;
    path.push(word);
    await load(command);
  }
  return { command, path, given, pending };
}

async function possible(
  tree: Tree,
  words: readonly string[],
  current: string,
): Promise<readonly Candidate[]> {
  const { command, path, given, pending } = await find(tree, words);
  if (pending?.long === '--columns') return columnsOf(command, current);
  if (pending?.long === '--value') return columnsOf(command, '');
  if (pending !== undefined)
    return described(await valuesOf(tree, pending, optionSources[pending.long ?? '']));
  if (current.startsWith('-')) return optionsOf(command);
  if (commandsOf(command).length > 0) return commandsIn(command);
  const { registeredArguments: all } = command;
  const argument = all[given] ?? (all.at(-1)?.variadic ? all.at(-1) : undefined);
  if (argument === undefined) return [];
  return described(
    await valuesOf(
      tree,
      argument,
      given > 0 && !argument.variadic ? undefined : argumentSources[path.join(' ')],
    ),
  );
}

async function valuesOf(tree: Tree, value: Option | Argument, source: Source | undefined): Promise<Found> {
  const choices = choicesOf(value);
  return choices.length > 0 ? choices : ((await source?.(tree)) ?? []);
}

const described = (found: Found): Candidate[] =>
  found.map((each) => (typeof each === 'string' ? { word: each, description: '' } : each));

/** Names after the last comma, each at most once. */
function columnsOf(command: Command, current: string): Candidate[] {
  const chosen = current.split(',').slice(0, -1);
  const names = viewOf(command)?.columns.map(({ name }) => name) ?? [];
  const left = names.filter((name) => !chosen.includes(name));
  return described(left.map((name) => [...chosen, name].join(',')));
}

/** The command's own options, followed by the global ones, which its help hides. */
function optionsOf({ options }: Command): Candidate[] {
  const own = options.filter(({ hidden }) => !hidden);
  const global = options.filter(({ hidden }) => hidden);
  return [
    ...[...own, ...global].flatMap(({ long, description }) => (long ? [{ word: long, description }] : [])),
    { word: '--help', description: 'show help' },
  ];
}

const commandsIn = (group: Command): Candidate[] =>
  visibleCommands(group).map((command) => ({ word: command.name(), description: command.summary() }));
