import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import type { Config } from '../config/config.js';
import { formats } from '../output/formats.js';
import { recentIds } from '../recent-ids.js';
import { topics } from '../topics/index.js';
import { shells } from './scripts.js';

interface Tree {
  readonly program: Command;
  readonly config: Pick<Config, 'read' | 'stateDirectory'>;
  /** Gives a command its options and arguments. */
  load(command: Command): Promise<void>;
}

type Source = (tree: Tree) => Promise<readonly string[]> | readonly string[];

const profiles: Source = async ({ config }) => Object.keys((await config.read()).profiles);
const jobs: Source = async ({ config }) => {
  try {
    const names = await readdir(join(config.stateDirectory, 'jobs'));
    return names.filter((name) => !name.startsWith('.'));
  } catch {
    return [];
  }
};
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
  'jobs report': jobs,
  'jobs remove': jobs,
  completion: () => shells,
  help: ({ program }) => [...Object.keys(topics), ...visibleNames(program)],
};
const optionSources: Readonly<Record<string, Source>> = {
  '--profile': profiles,
  '--output': () => formats,
  '--job': jobs,
  '--channel': () => ['sms', 'email'],
};

/** A name that needs no quoting in any shell. */
const plain = /^[\w.@:+-]+$/;

/** Completions of the last word; none where a file may stand, which the shell completes. */
export async function candidates(tree: Tree, words: readonly string[]): Promise<string[]> {
  const current = words.at(-1) ?? '';
  const position = await find(tree, words.slice(0, -1));
  const found = await possible(tree, position, current);
  return found.filter((each) => each.startsWith(current) && plain.test(each));
}

interface Position {
  command: Command;
  path: string[];
  /** The option whose value comes next. */
  pending: Option | undefined;
}

/** Follows the words down the tree of commands. */
async function find({ program, load }: Tree, words: readonly string[]): Promise<Position> {
  let command = program;
  let pending: Option | undefined;
  const path: string[] = [];
  for (const word of words) {
    if (pending !== undefined) {
      pending = undefined;
      continue;
    }
    if (word.startsWith('-')) {
      const option = command.options.find((each) => each.long === word || each.short === word);
      pending = option?.required ? option : undefined;
      continue;
    }
    const next = command.commands.find((each) => each.name() === word && !isHidden(each));
    if (next === undefined) continue;
    command = next;
    path.push(word);
    await load(command);
  }
  return { command, path, pending };
}

async function possible(
  tree: Tree,
  { command, path, pending }: Position,
  current: string,
): Promise<readonly string[]> {
  if (pending !== undefined) return (await optionSources[pending.long ?? '']?.(tree)) ?? [];
  if (current.startsWith('-')) return [...command.options.flatMap(({ long }) => long ?? []), '--help'];
  if (command.commands.length > 0) return visibleNames(command);
  return (await argumentSources[path.join(' ')]?.(tree)) ?? [];
}

const visibleNames = (command: Command): string[] =>
  command.commands.filter((each) => !isHidden(each)).map((each) => each.name());

const isHidden = (command: Command) => command.name().startsWith('_');
